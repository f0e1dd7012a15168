"""What adjusting adds: options of `urs-inspect rank`, and a prior of people's votes."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    offers={
        "adjustments of rankings": {
            "judge": "adjusting._adjustments:ByJudge",
            "control": "adjusting._adjustments:AtEqualStyle",
            "prior": "adjusting._adjustments:WithPrior",
        },
        "priors of votes": {
            "judge": "adjusting._judge_prior:JudgePrior",
            "log": "adjusting._verdicts:read_prior",
        },
    },
)
