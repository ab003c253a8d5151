"""From which score a claim is OK or WEAK, and who said so."""

import math

from rag_assets.judging.contract import Thresholds
from rag_assets.judging.reader_fit import ReaderFit
from rag_assets.model import ConfigurationError
from rag_assets.settings import ReaderSettings, VerifySettings

_SPEC_OK = 0.55  # spec 000 §4.8: "threshold T=0.55 (config default)"
_SPEC_WEAK = 0.40  # spec 000 leaves T_weak open; the shipped setting since the first release


def spec_thresholds(settings: VerifySettings) -> Thresholds:
    """Return the thresholds of `similarity`: those of spec 000, or the settings'.

    Raises:
        ConfigurationError: WEAK would begin above OK.
    """
    require_order(settings.threshold, settings.weak_threshold, "verify")
    is_spec = math.isclose(settings.threshold, _SPEC_OK)
    is_spec_weak = math.isclose(settings.weak_threshold, _SPEC_WEAK)
    return Thresholds(
        settings.threshold,
        settings.weak_threshold,
        "spec 000 default" if is_spec else "setting verify.threshold",
        "default" if is_spec_weak else "setting verify.weak_threshold",
    )


def require_order(ok: float, weak: float, section: str) -> None:
    """Raise ConfigurationError where WEAK would begin above OK."""
    if weak > ok:
        raise ConfigurationError(
            f"{section}.weak_threshold ({weak}) must not lie above {section}.threshold ({ok})."
        )


# Where nothing was measured: yes is likelier than no.
_EVEN = 0.5
_UNMEASURED_WEAK = 0.25


def reader_thresholds(settings: ReaderSettings, fit: ReaderFit | None, section: str) -> Thresholds:
    """Return the thresholds of a reader: those of the settings, else as it was fitted.

    Raises:
        ConfigurationError: WEAK would begin above OK.
    """
    origin = _origin(fit) if fit else "default: yes is likelier than no"
    ok, weak = (fit.ok, fit.weak) if fit else (_EVEN, _UNMEASURED_WEAK)
    own_ok, own_weak = settings.threshold, settings.weak_threshold
    ok = ok if own_ok is None else own_ok
    weak = weak if own_weak is None else own_weak
    require_order(ok, weak, section)
    return Thresholds(
        ok,
        weak,
        origin if own_ok is None else f"setting {section}.threshold",
        origin if own_weak is None else f"setting {section}.weak_threshold",
    )


def _origin(fit: ReaderFit) -> str:
    return (
        f"fitted on {fit.data}; there {fit.ok_supported:.2f} of the supported and "
        f"{fit.ok_unsupported:.2f} of the unsupported are OK, AUC {fit.auc:.2f}"
    )
