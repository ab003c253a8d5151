CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, by TEXT NOT NULL,
    entity TEXT NOT NULL, subject TEXT NOT NULL, version INTEGER NOT NULL, action TEXT NOT NULL,
    reason TEXT NOT NULL, state JSON NOT NULL, voided BOOLEAN NOT NULL DEFAULT 0,
    UNIQUE (entity, subject, version));
CREATE TABLE runs (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
    created_at TEXT NOT NULL, record JSON NOT NULL);
CREATE TABLE products (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'deleted')));
CREATE TABLE presets (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL, product_ids JSON NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'deleted')));
CREATE TABLE feedback (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) DEFERRABLE INITIALLY DEFERRED, version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('given', 'deleted')), score REAL NOT NULL,
    recipe_index INTEGER NOT NULL CHECK (recipe_index >= 1), as_made TEXT NOT NULL,
    pros TEXT NOT NULL, cons TEXT NOT NULL, other TEXT NOT NULL, learn BOOLEAN,
    signature TEXT NOT NULL, products JSON NOT NULL, given_at TEXT NOT NULL,
    updated_at TEXT NOT NULL);
CREATE TABLE reports (
    run_id TEXT PRIMARY KEY REFERENCES feedback(run_id) DEFERRABLE INITIALLY DEFERRED, version INTEGER NOT NULL,
    made_at TEXT NOT NULL, signature TEXT NOT NULL, report JSON NOT NULL);
CREATE TABLE extractions (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL,
    run_id TEXT NOT NULL REFERENCES feedback(run_id) DEFERRABLE INITIALLY DEFERRED,
    status TEXT NOT NULL CHECK (status IN ('made', 'rolled_back')), made_at TEXT NOT NULL,
    record JSON NOT NULL);
CREATE TABLE items (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL, version INTEGER NOT NULL, role TEXT NOT NULL,
    kind TEXT NOT NULL, type TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'archived')), rolled_back BOOLEAN NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, schema_version INTEGER NOT NULL,
    title TEXT NOT NULL, description TEXT NOT NULL, content TEXT NOT NULL,
    extra_json TEXT NOT NULL, extraction_id TEXT, moved_to JSON NOT NULL);
CREATE TABLE lessons (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL,
    item_id TEXT NOT NULL REFERENCES items(id) DEFERRABLE INITIALLY DEFERRED, extraction_id TEXT NOT NULL,
    source_run_id TEXT NOT NULL, voided BOOLEAN NOT NULL, lesson JSON NOT NULL);
CREATE INDEX lessons_of_items ON lessons (item_id);
CREATE INDEX lessons_of_extractions ON lessons (extraction_id);
CREATE TABLE templates (
    role TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, saved_at TEXT NOT NULL,
    PRIMARY KEY (role, version));
CREATE TABLE settings (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, saved JSON NOT NULL, saved_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS experience_vectors (
    fingerprint TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (fingerprint, text_hash));
CREATE VIEW mem_edit_log AS
    SELECT c.seq, c.subject AS item_id, c.at, c.by, c.action, c.version, b.state AS before,
        c.state AS after, c.reason, c.voided
    FROM changes c
    LEFT JOIN changes b ON b.entity = 'item' AND b.subject = c.subject AND b.version = c.version - 1
    WHERE c.entity = 'item' AND (c.action IN ('edited', 'archived', 'restored', 'rolled_back')
        OR c.action = 'created' AND NOT EXISTS (SELECT 1 FROM lessons l WHERE l.seq = c.seq))
