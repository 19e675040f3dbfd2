"""Commands about the rules: KataGo's and KGS's."""

from typing import TYPE_CHECKING

from gtp_engine.go.rules import Rules
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer


@command("kata-get-rules", "", "The rules as JSON on one line.")
def kata_get_rules(server: "GtpServer", args: Args) -> str:
    """Return the rules in KataGo's form."""
    return server.engine.rules.to_json()


@command("kata-set-rules", "RULES...", "Set the rules: a name such as chinese, or JSON as kata-get-rules prints it.")
def kata_set_rules(server: "GtpServer", args: Args) -> str:
    """Set all rules; the position stays."""
    rules = Rules.parse(args.text)
    server.engine.set_rules(rules)
    return ""


@command("kata-set-rule", "KEY VALUE", "Set one field of the rules, for example: ko SIMPLE.", exact=True)
def kata_set_rule(server: "GtpServer", args: Args) -> str:
    """Set one rule; the others stay."""
    server.engine.set_rules(server.engine.rules.with_value(args[0], args[1]))
    return ""


@command("kgs-rules", "RULES", "Set the rules by KGS's name: chinese, japanese, aga or new_zealand.")
def kgs_rules(server: "GtpServer", args: Args) -> str:
    """Set all rules; further words are ignored, because KGS may add some."""
    rules = Rules.parse_kgs(args[0])
    server.engine.set_rules(rules)
    return ""
