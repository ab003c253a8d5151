"""Drafts of chunks from Python (spec 001, DraftEditor): as `rag draft`, with its publication."""

from rag_assets.chunking import editing
from rag_assets.model import Progress, PublicationError
from rag_assets.running import RunOutcome, materialize_stages
from rag_assets.workspace import Namespace
from rag_assets.workspace.stages import way_from


class DraftEditor(editing.DraftEditor):
    """Edits the chunks of one document; see `rag_assets.chunking.editing.DraftEditor`.

    Example::

        editor = DraftEditor(workspace.namespace("thesis"), "paper", by="ann")
        editor.create()
        chunk = editor.draft().chunks[3]
        editor.edit_text(chunk.key, "What the scan should have read.")
        editor.publish_and_build()
    """

    @classmethod
    def find(cls, namespace: Namespace, name: str, *, by: str) -> "DraftEditor":
        """Return the editor of a document, named by its uid or by its file in raw/.

        Raises:
            UsageError: none or several are called so, or it is not cut into chunks yet.
        """
        _, uid = editing.find_document([namespace], name)
        return cls(namespace, uid, by=by)

    def publish_and_build(self, reason: str = "") -> RunOutcome:
        """Publish the draft and build what it concerns, up to a publication.

        Raises:
            UsageError: there is no draft, or nothing in it.
            PublicationError: the run failed. The draft is published all the same: the next run
                builds it.
        """
        self.publish(reason)
        return self.build()

    def build(self, *, on_progress: Progress | None = None) -> RunOutcome:
        """Build what the published draft concerns, up to a publication.

        Raises:
            PublicationError: the run failed; the next run builds it.
        """
        run = materialize_stages(self.namespace, way_from("chunk_edits"), on_progress=on_progress)
        if not run.is_published:
            raise PublicationError(
                f"the draft of '{self.doc_uid}' is published, but the run failed: "
                f"{' '.join(run.errors) or 'a check did not pass'} Run `rag ingest --namespace "
                f"{self.namespace.name}`."
            )
        return run
