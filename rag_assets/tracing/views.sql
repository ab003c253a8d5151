-- What `rag sql` and `rag trace` see, as DuckDB makes it: sections by name, read by
-- `tracing.querying.sql`. Words in braces are put in by the function that runs the section.

-- :stored_tables
CREATE TABLE stages (
    namespace VARCHAR, stage VARCHAR, partition VARCHAR, content_hash VARCHAR, fingerprint VARCHAR,
    digest VARCHAR, computed_at VARCHAR, run_id VARCHAR, code_version VARCHAR, config_hash VARCHAR,
    tool_version VARCHAR
);
CREATE TABLE publications (
    namespace VARCHAR, publication VARCHAR, is_current BOOLEAN, created_at TIMESTAMP,
    inventory_digest VARCHAR, chunks BIGINT, run_id VARCHAR, code_version VARCHAR,
    config_hash VARCHAR, tool_version VARCHAR
);
CREATE TABLE bindings (
    namespace VARCHAR, content_hash VARCHAR, path VARCHAR, doc_uid VARCHAR, bound_at VARCHAR
);
CREATE TABLE versions (
    file VARCHAR, made_at VARCHAR, reason VARCHAR, run_id VARCHAR, code_version VARCHAR,
    config_hash VARCHAR, tool_version VARCHAR
);

-- :stages
INSERT INTO stages
WITH records AS (
    SELECT string_split(file_name, '/')[-3:] AS place,
        unnest(map_entries(from_json(decode(value), '"MAP(VARCHAR, JSON)"'))) AS entry
    FROM parquet_kv_metadata({paths}) WHERE decode(key) = 'rag_record'
)
SELECT place[1] AS namespace, place[2] AS stage,
    replace(place[3], '.parquet', '') AS partition, entry.key AS content_hash,
    entry.value->>'$.fingerprint' AS fingerprint, entry.value->>'$.digest' AS digest,
    entry.value->>'$.note.made_by.at' AS computed_at,
    entry.value->>'$.note.made_by.run_id' AS run_id,
    entry.value->>'$.note.made_by.code_version' AS code_version,
    entry.value->>'$.note.made_by.config_hash' AS config_hash,
    entry.value->>'$.note.made_by.tool_version' AS tool_version
FROM records

-- :publications
INSERT INTO publications
SELECT namespace, publication, (namespace, publication) IN ({current}),
    make_timestamp((created_at * 1000000)::BIGINT), inventory_digest,
    (counts->>'chunks')::BIGINT, made_by->>'run_id', made_by->>'code_version',
    coalesce(config_hash, made_by->>'config_hash'), tool_version
FROM {files}

-- :bindings
INSERT INTO bindings
SELECT regexp_extract(filename, '([^/]+)\.jsonl$', 1) AS namespace, content_hash, path,
    doc_uid, "at" AS bound_at
FROM {files} WHERE event IN ('bind', 'pin')

-- :versions
INSERT INTO versions
SELECT file, "timestamp" AS made_at, reason, made_by->>'run_id' AS run_id,
    made_by->>'code_version' AS code_version,
    made_by->>'config_hash' AS config_hash, made_by->>'tool_version' AS tool_version
FROM {files} WHERE file IS NOT NULL

-- :lab_recipes
CREATE VIEW lab_recipes AS
SELECT run_id, CAST(recipe->>'rank' AS BIGINT) AS rank, recipe->>'M1' AS M1,
    recipe->>'M2' AS M2, recipe->>'atomic_ratio' AS atomic_ratio,
    recipe->>'$.small_molecule_modifier.name' AS modifier,
    recipe->>'$.small_molecule_modifier.smiles' AS smiles, recipe->'grounds' AS grounds
FROM (SELECT id AS run_id, unnest(CAST(record->'recipes' AS JSON[])) AS recipe FROM lab_runs)

-- :lab_products
CREATE VIEW lab_feedback_products AS
SELECT run_id, product->>'product_id' AS product_id, CAST(product->>'value' AS DOUBLE) AS value,
    CAST(product->>'fraction' AS DOUBLE) AS fraction
FROM (SELECT run_id, unnest(CAST(products AS JSON[])) AS product FROM lab_feedback)

-- :verdicts
SELECT 'verdict', coalesce(each->>'verdict_id', audit_id || '#' || (each->>'number')),
    filename, regexp_extract(filename, '([^/]+)\.json$', 1), (each->>'number')::BIGINT,
    each->>'number', draft_name, (each->>'line')::BIGINT, each->>'file', each->>'sentence',
    each->>'claim', each->>'status', each->>'reason_code', each->>'reason',
    (each->>'score')::DOUBLE,
    coalesce(each->>'scorer', each->>'scored_by', scorer),
    coalesce(each->>'scorer_fingerprint', scorer_fingerprint),
    each->>'namespace', each->>'doc_uid', each->>'chunk_id', each->>'parent_id',
    each->>'citation_id', each->>'content_hash', each->>'quote', each->>'locator',
    each->>'content_version', publications[each->>'namespace']
FROM (SELECT *, unnest("rows") AS each FROM {files})

-- :items
SELECT 'item', query_id || '#' || (each->>'rank'),
    filename, regexp_extract(filename, '([^/]+)\.json$', 1), (each->>'rank')::BIGINT,
    each->>'rank', question, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    (each->>'retrieval_score')::DOUBLE,
    'retrieval', NULL,
    each->>'namespace', each->>'doc_uid', each->>'chunk_id', each->>'parent_id',
    each->>'citation_id', each->>'chunk_hash', each->>'exact_quote', each->>'locator',
    list_filter(sources, lambda s: s->>'doc_uid' = each->>'doc_uid'
        AND s->>'namespace' = each->>'namespace')[1]->>'content_hash',
    publications[each->>'namespace']
FROM (SELECT *, unnest(items) AS each FROM {files})

-- :claims
-- A claim has a row for each document that it cites, and one where it cites none.
SELECT 'claim', audit_id || '#' || (each->>'claim_id') || '#' || link_number,
    filename, regexp_extract(filename, '([^/]+)\.json$', 1), claim_number,
    each->>'claim_id', draft_name, (each->>'line')::BIGINT, each->>'file', each->>'sentence',
    each->>'claim_text', each->>'status', coalesce(link->>'reason_code', each->>'claim_type'),
    each->>'reason', (link->>'score')::DOUBLE, coalesce(link->>'scored_by', scorer),
    link->>'scorer_fingerprint', link->>'namespace', link->>'doc_uid', link->>'chunk_id',
    link->>'parent_id', link->>'citation_id', link->>'content_hash', link->>'quote',
    link->>'locator', link->>'content_version', publications[link->>'namespace']
FROM (
    SELECT * EXCLUDE (links), unnest(links)->'verdict' AS link,
        generate_subscripts(links, 1) AS link_number
    FROM (
        SELECT *, CASE WHEN json_array_length(each->'linked_evidence') > 0
            THEN from_json(each->'linked_evidence', '["JSON"]') ELSE [NULL::JSON] END AS links
        FROM (
            SELECT *, unnest("rows") AS each, generate_subscripts("rows", 1) AS claim_number
            FROM {files}
        )
    )
)

-- :passages
SELECT 'passage', citation_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, namespace, doc_uid, chunk_id, parent_id, citation_id, content_hash,
    NULL, NULL, NULL, publication
FROM standing_chunks WHERE is_current

-- :lineage
CREATE VIEW lineage AS
WITH placed AS (
    -- The document in the publication that was judged, else in the one that readers see.
    SELECT r.*, d.publication AS found_in, d.is_current AS is_current, d.title,
        d.doc_id AS text_hash, d.content_hash AS found_content, d.content_ref,
        c.chunk_id AS found_chunk_id, c.content_hash AS chunk_hash, c.input_hash,
        c.char_start, c.char_end, c.page_start, c.page_end, c.section_path,
        c.parent_id AS found_parent_id
    FROM ends AS r
    LEFT JOIN standing_documents AS d
        ON d.namespace = r.namespace AND d.doc_uid = r.doc_uid
        AND coalesce(r.judged_content, d.content_hash) = d.content_hash
    LEFT JOIN standing_chunks AS c
        ON c.namespace = r.namespace AND c.publication = d.publication
        AND c.citation_id = r.citation_id
    QUALIFY row_number() OVER (
        PARTITION BY r.kind, r.id, r.output
        ORDER BY d.publication IS NOT DISTINCT FROM r.judged_publication DESC,
            c.chunk_id IS NOT NULL DESC, d.is_current DESC
    ) = 1
), last_bound AS (
    SELECT namespace, doc_uid, arg_max(content_hash, bound_at) AS content_hash
    FROM bindings GROUP BY ALL
), hashed AS (
    SELECT p.*, coalesce(p.judged_content, p.found_content, b.content_hash) AS raw_sha256
    FROM placed AS p
    LEFT JOIN last_bound AS b ON b.namespace = p.namespace AND b.doc_uid = p.doc_uid
), bound_paths AS (
    SELECT namespace, content_hash, list(DISTINCT path ORDER BY path) AS paths
    FROM bindings GROUP BY ALL
), living_paths AS (
    SELECT namespace, publication, content_hash,
        list(file ORDER BY file) AS paths
    FROM standing_sources GROUP BY ALL
), computed AS (
    SELECT namespace, content_hash, list({
        'stage': stage, 'partition': partition, 'fingerprint': fingerprint,
        'digest': digest, 'computed_at': computed_at, 'run_id': run_id,
        'code_version': code_version, 'config_hash': config_hash,
        'tool_version': tool_version
    } ORDER BY list_position({stages}, stage)) AS stages
    FROM stages GROUP BY ALL
), seen AS (
    SELECT namespace, citation_id, list(output || '#' || number ORDER BY output, number)
        AS items
    FROM ends WHERE kind = 'item' GROUP BY ALL
)
SELECT h.kind, h.id, h.output || '#' || h.label AS name,
    replace(h.file, {root}, '') AS file, h.output, h.number, h.label,
    h.made_from, v.made_at, v.run_id, v.code_version,
    v.config_hash, v.tool_version,
    h.line, h.draft_file, h.sentence, h.claim, h.status, h.reason_code, h.reason, h.score, h.scorer,
    h.scorer_fingerprint, h.quote, h.locator, h.passage_hash,
    coalesce(seen.items, []) AS items,
    h.namespace, h.doc_uid, h.title, h.citation_id, h.chunk_id, h.found_chunk_id,
    h.chunk_hash, h.input_hash, h.char_start, h.char_end, h.page_start, h.page_end,
    h.section_path, coalesce(h.found_parent_id, h.parent_id) AS parent_id,
    p.hash AS parent_hash, p.page_start AS parent_page_start, p.page_end AS parent_page_end,
    h.judged_publication, h.found_in AS publication, h.is_current,
    pub.created_at AS published_at, pub.run_id AS publication_run_id,
    pub.code_version AS publication_code_version,
    pub.config_hash AS publication_config_hash,
    pub.tool_version AS publication_tool_version,
    h.text_hash, h.content_ref, t.parser, t.parser_version, t.media_type,
    h.raw_sha256, coalesce(l.paths, b.paths, []) AS raw_paths,
    now.content_hash AS current_sha256,
    now.content_hash IS DISTINCT FROM h.raw_sha256 AS is_stale,
    coalesce(k.stages, []) AS stages
FROM hashed AS h
LEFT JOIN standing_parents AS p ON p.namespace = h.namespace
    AND p.publication = h.found_in AND p.parent_id = coalesce(h.found_parent_id, h.parent_id)
LEFT JOIN standing_parse_reports AS t ON t.namespace = h.namespace
    AND t.publication = h.found_in AND t.content_hash = h.raw_sha256
LEFT JOIN living_paths AS l ON l.namespace = h.namespace AND l.publication = h.found_in
    AND l.content_hash = h.raw_sha256
LEFT JOIN bound_paths AS b ON b.namespace = h.namespace AND b.content_hash = h.raw_sha256
LEFT JOIN computed AS k ON k.namespace = h.namespace AND k.content_hash = h.raw_sha256
LEFT JOIN publications AS pub ON pub.namespace = h.namespace
    AND pub.publication = h.found_in
LEFT JOIN standing_documents AS now ON now.namespace = h.namespace
    AND now.doc_uid = h.doc_uid AND now.is_current
LEFT JOIN seen ON seen.namespace = h.namespace AND seen.citation_id = h.citation_id
LEFT JOIN versions AS v ON v.file = regexp_replace(
    replace(h.file, {root}, ''), '\.json$', '.md')

-- :knowledge_sources
SELECT source_key, namespace, source_id, name,
    CASE
        WHEN coalesce(
            metadata->>'$.metadata.source_info_auto.kind',
            metadata->>'$.metadata.source_info.kind'
        ) = 'content' THEN 'text'
        WHEN regexp_matches(source_uri, '^https?:', 'i') THEN 'url'
        ELSE 'file'
    END AS source_type,
    source_uri, to_json(tags) AS tags,
    json_merge_patch(
        metadata::JSON,
        json_object('raw', json_object(
            'file', file, 'doc_uid', doc_uid, 'status', status,
            'source_type', source_type, 'source_subtype', source_subtype
        ))
    ) AS metadata,
    created_at, updated_at, NULL::FLOAT[] AS vector
FROM sources

-- :knowledge_docs
-- A document that is drafted stands in the library as it was, and again as a draft.
WITH held AS (
    SELECT * FROM documents UNION ALL BY NAME SELECT * FROM archived_documents
), shown AS (
    SELECT * FROM held
    UNION ALL BY NAME
    SELECT held.* REPLACE (
            drafts.namespace || '::' || drafts.doc_uid || ':draft' AS doc_key,
            drafts.namespace AS namespace, drafts.doc_uid AS doc_uid, 'draft' AS status,
            drafts.begun_at::TIMESTAMP AS created_at, drafts.changed_at::TIMESTAMP AS updated_at
        ),
        json_object('revision', drafts.revision, 'by', drafts.changed_by) AS draft
    FROM drafts LEFT JOIN held
        ON held.namespace = drafts.namespace AND held.doc_uid = drafts.doc_uid
    WHERE drafts.status = 'draft'
), attached AS (
    SELECT namespace, doc_uid, list_sort(list_distinct(flatten(list(attachment_ids)))) AS ids
    FROM chunks GROUP BY ALL
)
SELECT doc_key, namespace, doc_id, source_id, source_uri, title, version, status, language,
    content_hash, content_ref, to_json(tags) AS tags,
    json_merge_patch(
        coalesce(shown.metadata, '{}')::JSON,
        json_object(
            'doc_uid', doc_uid, 'attachments', coalesce(attached.ids, []), 'draft', draft
        )
    ) AS metadata,
    created_at, updated_at, NULL::FLOAT[] AS vector
FROM shown LEFT JOIN attached USING (namespace, doc_uid)

-- :knowledge_chunks
SELECT chunks.chunk_key, chunks.namespace, chunks.chunk_id, chunks.doc_id, chunks.source_id,
    chunks.doc_title, coalesce(chunks.edited, chunks.text) AS content, chunks.token_count,
    chunks.chunk_index, chunks.section_path, chunks.version, chunks.status, chunks.chunk_type,
    chunks.parent_id, chunks.content_hash,
    json_merge_patch(
        coalesce(chunks.metadata, '{}')::JSON,
        json_object(
            'source_spans', [{'page': chunks.page_start, 'start_offset': chunks.char_start, 'end_offset': chunks.char_end}],
            'chunk_config', cutting.chunk_config, 'attachments_ref', chunks.attachment_ids,
            'doc_uid', chunks.doc_uid, 'citation_id', chunks.citation_id, 'kind', chunks.kind,
            'printed', CASE WHEN chunks.edited IS NOT NULL THEN chunks.text END
        )
    ) AS metadata,
    to_json(vectors.sparse_vector) AS sparse_vector, chunks.created_at, chunks.updated_at,
    CASE WHEN list_inner_product(vectors.vector, vectors.vector) > 0 THEN vectors.vector END
        AS vector
FROM chunks
    LEFT JOIN chunk_vectors AS vectors USING (chunk_key)
    LEFT JOIN chunk_settings AS cutting ON cutting.namespace = chunks.namespace
UNION ALL
SELECT parents.namespace || '::' || parents.parent_id, parents.namespace, parents.parent_id,
    held.doc_id, held.source_id, held.title, parents.text, NULL, parents."order",
    parents.section_path, held.version, held.status, 'parent', NULL, parents.hash,
    json_merge_patch(
        '{}'::JSON,
        json_object(
            'source_spans', [{'page': parents.page_start, 'start_offset': parents.char_start, 'end_offset': parents.char_end}],
            'chunk_config', cutting.chunk_config, 'doc_uid', parents.doc_uid
        )
    ),
    NULL, held.created_at, held.updated_at, NULL
FROM parents
    JOIN documents AS held USING (namespace, doc_uid)
    LEFT JOIN chunk_settings AS cutting ON cutting.namespace = parents.namespace
UNION ALL
SELECT namespace || '::' || doc_uid || ':draft:' || chunk_index, namespace,
    doc_uid || ':draft:' || chunk_index, held.doc_id, held.source_id, held.title, content, NULL,
    chunk_index, NULL, held.version, 'draft', 'child', doc_uid || ':' || parent_label,
    drafted.content_hash,
    json_merge_patch(
        '{}'::JSON,
        json_object(
            'source_spans', [{'page': page, 'start_offset': char_start, 'end_offset': char_end}],
            'doc_uid', doc_uid, 'draft_key', draft_key, 'enabled', is_enabled,
            'printed', CASE WHEN content <> printed THEN printed END
        )
    ),
    NULL, drafts.begun_at::TIMESTAMP, drafts.changed_at::TIMESTAMP, NULL
FROM drafted_chunks AS drafted
    JOIN drafts USING (namespace, doc_uid)
    LEFT JOIN (
        SELECT * FROM documents UNION ALL BY NAME SELECT * FROM archived_documents
    ) AS held USING (namespace, doc_uid)

-- :build_documents
SELECT d.doc_uid, d.content_hash AS sha256, d.doc_id AS text_sha256, d.citable,
    list(s.file ORDER BY s.file) AS paths, t.parser, t.parser_version,
    t.media_type
FROM standing_documents AS d
LEFT JOIN standing_sources AS s ON s.content_hash = d.content_hash
LEFT JOIN standing_parse_reports AS t ON t.content_hash = d.content_hash
GROUP BY ALL ORDER BY d.doc_uid

-- :build_stages
SELECT stage, content_hash, fingerprint, digest, computed_at, run_id, code_version,
    config_hash, tool_version
FROM stages WHERE content_hash IN (SELECT content_hash FROM standing_documents)
ORDER BY content_hash

-- :build_not_published
SELECT file AS path, content_hash AS sha256, status FROM standing_sources
WHERE status <> 'published' ORDER BY file

