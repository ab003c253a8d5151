"""The user's folder: layout, configuration, inventory of raw/, identity journal."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names
from rag_assets.model.settings import Settings
from rag_assets.workspace.configuration import configs_folder, shipped_settings
from rag_assets.workspace.creating import (
    add_namespace,
    create_workspace,
    library_of,
    list_templates,
    make_folder,
    overlapping_folders,
    shipped_file,
)
from rag_assets.workspace.environment_file import (
    ENVIRONMENT_FILE,
    SENSORS_VARIABLE,
    choose_secrets,
    correct_environment,
    environment_of,
    find_secret,
    lend_environment,
    read_environment,
    readers_of_secrets,
    require_free_place,
    require_own_environment,
    stale_environment,
)
from rag_assets.workspace.inventory import (
    Change,
    Held,
    Inventory,
    InventoryOutcome,
    LivingContent,
    compare_contents,
    count_changes,
    current_identities,
    current_overrides,
    lock_inventory,
    name_changes,
    newest_expired,
    read_inventory,
    require_inventory,
    sources_digest,
    take_inventory,
)
from rag_assets.workspace.journal import (
    Binding,
    CitationKey,
    Claim,
    Identities,
    Journal,
    Override,
    append_events,
    read_journal,
    reconcile,
    slug,
)
from rag_assets.workspace.layout import Namespace, Workspace
from rag_assets.workspace.naming import code_digest
from rag_assets.workspace.policy import (
    ARCHIVED,
    LISTS,
    OVERRIDABLE,
    REPEALED,
    Decision,
    changes_since_decision,
    config_hash,
    find_uid,
    overridden_fields,
    override_metadata,
    read_decisions,
    record_decision,
    set_metadata,
    written_settings,
)
from rag_assets.workspace.scanning import Scan, scan_raw
from rag_assets.workspace.sidecar import Sidecar, SourceFile, read_sidecar
from rag_assets.workspace.watching import (
    Look,
    changed_files,
    changed_partitions,
    configuration_digest,
    look_at_raw,
    overrides_digest,
    settings_digest,
)

if TYPE_CHECKING:
    from rag_assets.workspace.environment_file import read_secret
    from rag_assets.workspace.layout import MARKER as WORKSPACE_MARKER
    from rag_assets.workspace.naming import check_namespace_name
    from rag_assets.workspace.sidecar import SUFFIX as SIDECAR_SUFFIX

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("bounded_yaml", "desk_address", "stages")


# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "SIDECAR_SUFFIX": "sidecar:SUFFIX",
        "WORKSPACE_MARKER": "layout:MARKER",
        "check_namespace_name": "naming",
        "read_secret": "environment_file",
    },
)
