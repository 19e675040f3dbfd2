"""Whether the settings of human-like play go with the networks that are loaded."""

from dataclasses import fields, replace
from typing import Final

from gtp_engine.config import Config, HumanConfig
from gtp_engine.config.sections import MAX_LEVEL
from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.evaluation.evaluator import Evaluator

_SET_PROFILE: Final = "set human.human_profile (humanSLProfile), for example to rank_5k"
_LOAD_NETWORK: Final = "name one with --human-model FILE"


def check_human_settings(config: Config, evaluator: Evaluator | None, human: Evaluator | None) -> None:
    """Raise ConfigError for a network without the profile it needs, or a setting without its network."""
    _check_choice(config.human, human)
    if evaluator is not None and evaluator.info.needs_profile and not config.human.human_profile:
        name = shown(evaluator.info.name)
        raise ConfigError(problem(f"network {name} imitates people", expected="a profile", advice=_SET_PROFILE))
    if _is_profile_unused(config, evaluator, human):
        given = f"humanSLProfile {config.human.human_profile} without a network that uses it"
        raise ConfigError(problem(given, advice=_LOAD_NETWORK))


def human_settings_at_start(
    config: Config, evaluator: Evaluator | None, human: Evaluator | None
) -> tuple[Config, str | None]:
    """Return the configuration and perhaps a warning; a profile that no network uses is left out.

    Where a level is set, the main network may need a profile, which is then that of the level.  Raises ConfigError for
    other mistakes.
    """
    warning, level = None, config.play.level
    if _uses_profile(evaluator) and not config.human.human_profile and level != MAX_LEVEL:
        config = config.with_values({"human.human_profile": profile_of_level(level)})
    if _is_profile_unused(config, evaluator, human):
        warning = f"No network uses the profile {config.human.human_profile}, which is ignored: {_LOAD_NETWORK}."
        config = replace(config, human=replace(config.human, human_profile=""))
    elif _uses_profile(human) and not config.human.human_profile and level == MAX_LEVEL:
        warning = f"The human-like network is not used without a profile: {_SET_PROFILE}."
    check_human_settings(config, evaluator, human)
    return config, warning


def with_profile_of_level(old: Config, new: Config, evaluator: Evaluator | None) -> Config:
    """Return a changed configuration in which the main network's profile follows the level, if it did before."""
    level = new.play.level
    if not _uses_profile(evaluator) or level in (old.play.level, MAX_LEVEL):
        return new
    if new.human.human_profile not in ("", profile_of_level(old.play.level)):
        return new
    return new.with_values({"human.human_profile": profile_of_level(level)})


def profile_of_level(level: str) -> str:
    """Return the profile of the players of a rank."""
    return f"rank_{level}"


def _is_profile_unused(config: Config, evaluator: Evaluator | None, human: Evaluator | None) -> bool:
    """Return whether a profile is set that no network uses."""
    return bool(config.human.human_profile) and not _uses_profile(evaluator) and not _uses_profile(human)


def _uses_profile(evaluator: Evaluator | None) -> bool:
    return evaluator is not None and evaluator.info.needs_profile


def _check_choice(given: HumanConfig, human: Evaluator | None) -> None:
    """Raise ConfigError for a setting of the choice of moves without a human-like network."""
    if human is not None:
        return
    for entry in fields(HumanConfig):
        if entry.name != "human_profile" and getattr(given, entry.name) != entry.default:
            raise ConfigError(problem(f"option human.{entry.name} without a human-like network", advice=_LOAD_NETWORK))
