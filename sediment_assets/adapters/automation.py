"""What the asset graph does without a person: SEDIMENT_AUTOMATION and SEDIMENT_SENSOR_SECONDS (docs/operations.md).

Here and not with the graph, so that the command line refuses a wrong value without importing Dagster.
"""

from dataclasses import dataclass
from typing import Final

from sediment_assets.adapters.settings import Settings, SettingsError
from sediment_assets.facts.expected import shown

AUTOMATION: Final = "SEDIMENT_AUTOMATION"
SENSOR_SECONDS: Final = "SEDIMENT_SENSOR_SECONDS"
DEFAULT_SECONDS: Final = 30
_MOST_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Automation:
    """What happens without a person: schedule and sensors, stopped until an operator starts them in the UI.

    ``running`` starts them with the code location. ``fetching`` is the same for what fetches mirrors: the demo's
    repositories are nowhere but in its own directory. ``seconds`` is how often the sensors look.
    """

    running: bool = False
    fetching: bool = False
    seconds: int = DEFAULT_SECONDS

    @classmethod
    def of(cls, settings: Settings) -> "Automation":
        """Read SEDIMENT_AUTOMATION and SEDIMENT_SENSOR_SECONDS.

        :raises SettingsError: naming the setting that is neither.
        """
        started = settings.get(AUTOMATION) or "off"
        seconds = settings.get(SENSOR_SECONDS) or str(DEFAULT_SECONDS)
        if started not in ("on", "local", "off"):
            raise SettingsError(f"{AUTOMATION}: expected on, local (all but fetching) or off, got {shown(started)}")
        if not (seconds.isascii() and seconds.isdecimal() and 0 < int(seconds) <= _MOST_SECONDS):
            raise SettingsError(f"{SENSOR_SECONDS}: expected 1 to {_MOST_SECONDS} seconds, got {shown(seconds)}")
        return cls(started != "off", started == "on", int(seconds))
