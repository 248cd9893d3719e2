"""One Session in a repository nobody has mirrored yet: its commit and verdict are known, its patch is not."""

from typing import Final

from sediment_assets.demo.conversations import Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CLAUDE_CODE
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code

BANNER: Final = code("""
    package test.example.dashboard

    class Banner {
        var text: String? = null
    }
""")


def tell_mobile(evidence: Evidence, repo: Repository) -> None:
    """Tell the one Session of the mobile app."""
    repo.history.change("11-02 08:00", "dev-5", "Show a banner", {"app/Banner.kt": BANNER})
    repo.begin_capture()
    offline_banner(evidence, repo)


def offline_banner(evidence: Evidence, repo: Repository) -> None:
    """The mirror is absent, so there is no reference patch; the rollout row does not need one."""
    s = Session(evidence, "mobile-offline-banner", "11-04 14:30", repo, CLAUDE_CODE, user="dev-5")
    s.user("Show a banner 'You are offline' while there is no network.")
    s.read("app/Banner.kt")
    s.edit(
        "app/Banner.kt",
        "    var text: String? = null\n",
        code("""
            var text: String? = null
                private set

            fun onNetwork(available: Boolean) {
                text = if (available) null else "You are offline"
            }
        """, 4),
    )  # fmt: skip
    commit = s.commit("Tell the user when there is no network")
    s.answer("`onNetwork` sets and clears the banner.")
    repo.ci(commit, "passed")
