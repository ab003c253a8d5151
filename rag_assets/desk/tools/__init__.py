"""What an agent, a server or a page may do with an open library: typed functions with schemas.

Each takes the library first, or the drafts that cite it. `record_verdict` alone writes.
"""

from rag_assets.desk.tools.catalogue import DRAFT_TOOLS, TOOLS, LibraryTool
from rag_assets.desk.tools.checking import Drafts
from rag_assets.desk.tools.fencing import Fence
from rag_assets.desk.tools.reading import evidence_pack, fetch_parent, search
from rag_assets.desk.tools.statutes import describe_search, law_article, law_search
