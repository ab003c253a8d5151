"""What an agent, a server or a page may do with an open library: typed functions with schemas.

Each takes the library first. None writes anything.
"""

from rag_assets.desk.tools.catalogue import TOOLS, LibraryTool
from rag_assets.desk.tools.reading import evidence_pack, fetch_parent, search
from rag_assets.desk.tools.statutes import describe_search, law_article, law_search
