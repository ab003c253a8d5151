"""PDF by the cloud service MinerU: upload, wait, download, read its Markdown and JSON.

Protocol: https://mineru.net/apiManage/docs, version 4.
"""

from rag_assets.parsing.mineru.converting import Conversion, convert_documents
from rag_assets.parsing.mineru.reading import MINERU_VERSION, read_answer

__all__ = ["MINERU_VERSION", "Conversion", "convert_documents", "read_answer"]
