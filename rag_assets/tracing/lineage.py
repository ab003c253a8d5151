"""The view `lineage`: from a verdict or an item to the bytes that it rests on, one row each.

A row joins what an output says (it carries its own text, locator and hashes) with the publication
that it was made from, while that stands, else with the one that readers see now, else with what
journal and records still know of the bytes.
"""

from typing import TYPE_CHECKING

from rag_assets.publishing.catalogue import quote_literal
from rag_assets.stages import recorded
from rag_assets.storage import match_keys
from rag_assets.tracing.stored import json_files, load_table
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CLAIM_AUDITS = "outputs/audits/*_claims_v*.json"
_AUDITS = "outputs/audits/*_citations_v*.json"
_PACKS = "outputs/evidence_pack_v*.json"

# The columns of one end of a chain, in the order of the two selections below.
_REFERENCE = (
    "kind VARCHAR, id VARCHAR, file VARCHAR, output VARCHAR, number BIGINT, label VARCHAR, "
    "made_from VARCHAR, "
    "line BIGINT, sentence VARCHAR, claim VARCHAR, status VARCHAR, reason_code VARCHAR, "
    "reason VARCHAR, score DOUBLE, scorer VARCHAR, scorer_fingerprint VARCHAR, "
    "namespace VARCHAR, doc_uid VARCHAR, chunk_id VARCHAR, parent_id VARCHAR, "
    "citation_id VARCHAR, passage_hash VARCHAR, quote VARCHAR, locator VARCHAR, "
    "judged_content VARCHAR, judged_publication VARCHAR"
)

_VERDICTS = """
    SELECT 'verdict', coalesce(each->>'verdict_id', audit_id || '#' || (each->>'number')),
        filename, regexp_extract(filename, '([^/]+)\\.json$', 1), (each->>'number')::BIGINT,
        each->>'number', draft_name, (each->>'line')::BIGINT, each->>'sentence',
        each->>'claim', each->>'status', each->>'reason_code', each->>'reason',
        (each->>'score')::DOUBLE,
        coalesce(each->>'scorer', each->>'scored_by', scorer),
        coalesce(each->>'scorer_fingerprint', scorer_fingerprint),
        each->>'namespace', each->>'doc_uid', each->>'chunk_id', each->>'parent_id',
        each->>'citation_id', each->>'content_hash', each->>'quote', each->>'locator',
        each->>'content_version', publications[each->>'namespace']
    FROM (SELECT *, unnest("rows") AS each FROM {files})
"""
_AUDIT_COLUMNS = (
    "audit_id VARCHAR, draft_name VARCHAR, scorer VARCHAR, scorer_fingerprint VARCHAR, "
    "publications MAP(VARCHAR,VARCHAR), rows JSON[]"
)

_ITEMS = """
    SELECT 'item', query_id || '#' || (each->>'rank'),
        filename, regexp_extract(filename, '([^/]+)\\.json$', 1), (each->>'rank')::BIGINT,
        each->>'rank', question, NULL, NULL, NULL, NULL, NULL, NULL,
        (each->>'retrieval_score')::DOUBLE,
        'retrieval', NULL,
        each->>'namespace', each->>'doc_uid', each->>'chunk_id', each->>'parent_id',
        each->>'citation_id', each->>'chunk_hash', each->>'exact_quote', each->>'locator',
        list_filter(sources, lambda s: s->>'doc_uid' = each->>'doc_uid'
            AND s->>'namespace' = each->>'namespace')[1]->>'content_hash',
        publications[each->>'namespace']
    FROM (SELECT *, unnest(items) AS each FROM {files})
"""
_PACK_COLUMNS = (
    "query_id VARCHAR, question VARCHAR, publications MAP(VARCHAR,VARCHAR), items JSON[], "
    "sources JSON[]"
)

# A claim has a row for each document that it cites, and one where it cites none.
_CLAIMS = """
    SELECT 'claim', audit_id || '#' || (each->>'claim_id') || '#' || link_number,
        filename, regexp_extract(filename, '([^/]+)\\.json$', 1), claim_number,
        each->>'claim_id', draft_name, (each->>'line')::BIGINT, each->>'sentence',
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
"""

_PASSAGES = """
    SELECT 'passage', citation_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, namespace, doc_uid, chunk_id, parent_id, citation_id, content_hash,
        NULL, NULL, NULL, publication
    FROM standing_chunks WHERE is_current
"""

_LINEAGE = """
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
        SELECT namespace, content_hash, list({{
            'stage': stage, 'partition': partition, 'fingerprint': fingerprint,
            'digest': digest, 'computed_at': computed_at, 'run_id': run_id,
            'code_version': code_version, 'config_hash': config_hash,
            'tool_version': tool_version
        }} ORDER BY list_position({stages}, stage)) AS stages
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
        h.line, h.sentence, h.claim, h.status, h.reason_code, h.reason, h.score, h.scorer,
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
        replace(h.file, {root}, ''), '\\.json$', '.md')
"""


def create_lineage(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    """Add the table `ends` (verdicts, items, claims, passages) and the view `lineage` over it."""
    parts = [_PASSAGES]
    for pattern, columns, query in (
        (_AUDITS, _AUDIT_COLUMNS, _VERDICTS),
        (_PACKS, _PACK_COLUMNS, _ITEMS),
        (_CLAIM_AUDITS, _AUDIT_COLUMNS, _CLAIMS),
    ):
        if found := match_keys(workspace.store, pattern):
            parts.append(query.format(files=json_files(workspace.store, found, columns)))
    names = ", ".join(part.split(" ")[0] for part in _REFERENCE.split(", "))
    types = ", ".join(
        f"CAST({name} AS {kind}) AS {name}"
        for name, kind in (part.split(" ") for part in _REFERENCE.split(", "))
    )
    union = " UNION ALL ".join(parts)
    query = f"SELECT {types} FROM ({union}) AS united({names})"
    load_table(connection, "ends", _REFERENCE, query)
    connection.execute(
        _LINEAGE.format(
            stages=list(recorded()), root=quote_literal(f"{workspace.root.as_posix()}/")
        )
    )
