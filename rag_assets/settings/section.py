"""What every section of the settings is: strict, frozen, without keys that nobody knows."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Off = BeforeValidator(lambda value: "off" if value is False else value)  # YAML's bare `off`


class Section(BaseModel):
    """A section of a settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
