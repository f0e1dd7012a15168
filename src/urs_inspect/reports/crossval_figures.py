"""Figures 4 and 10 of a cross-validation (URS paper), drawn with Altair as SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect.datasets.references import DATASET
from urs_inspect.reports.tables import DASH, level_text, number

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Distinct for people who see few colours (Okabe and Ito, "Color Universal Design", 2008); from the seventh model on
they are repeated with another shape."""
_SHAPES = ("circle", "square", "triangle-up", "diamond")
_ALL = "all"
_INK, _SOFT, _LINE = "#16191f", "#5a6170", "#dfe2e8"
_WIDTH, _ROW = 430, 15  # pixels
_SCORE = "mean score, 1 to 10"


def draw_best_two(means: pd.DataFrame, names: Mapping[str, str], conditions: Mapping[str, Any], simulated: bool) -> str:
    """The two best models in every setting, over folds (Figure 4).

    Args:
        means: As from `mean_table`, the best models first.
        names: Short names of evaluators, sources and models.
        conditions: Those of the grid.
        simulated: Whether a model is simulated.
    """
    models = list(dict.fromkeys(means["model"]))
    best = means[means["model"].isin(models[:2])]
    centre, spread = best["fold_mean"], best["fold_deviation"]
    data = _settings(best, names).assign(value=centre, low=centre - spread, high=centre + spread)
    folds = best[[f"fold_{fold}" for fold in range(1, conditions["folds"] + 1)]]
    strokes = data[["group", "row", "model"]].join(folds.melt(value_name="part", ignore_index=False)["part"])
    title = "The two best models" if len(models) > 2 else "Models"
    about = f"Mean over {conditions['folds']} folds. Lines: ± their standard deviation. Strokes: folds."
    line = (conditions["reference_score"], f"{conditions['reference_score']:g}, a reference")
    panel = _panel(pd.concat([data, strokes], ignore_index=True), [names[model] for model in models[:2]], _SCORE, line)
    return _svg(title, about, simulated, [panel])


def draw_settings(
    means: pd.DataFrame, biases: pd.DataFrame, names: Mapping[str, str], conditions: Mapping[str, Any], simulated: bool
) -> str:
    """All models in every setting with intervals, and the rating bias of each evaluator (Figure 10).

    Args:
        means: As from `mean_table`.
        biases: As from `bias_table`.
        names: Short names of evaluators, sources and models.
        conditions: Those of the grid.
        simulated: Whether a model is simulated.
    """
    models = [names[model] for model in dict.fromkeys(means["model"])]
    line = (conditions["reference_score"], f"{conditions['reference_score']:g}, a reference")
    panels = [_panel(_settings(means, names).join(_parts(means["mean"])), models, _SCORE, line)]
    if len(biases):
        rows = biases.assign(group="Rating bias by evaluator", row=biases["evaluator"].map(names))
        rows["model"] = [names.get(model, model) for model in biases["model"]]
        axis = "black: Equation 1, over all models B; in colour: one model B"
        panels.append(
            _panel(rows.drop(columns="bias").join(_parts(biases["bias"])), models, axis, (0.0, "no bias"), True)
        )
    about = f"Lines: {level_text(means['mean'].iloc[0].level)} intervals over {conditions['cases']} cases."
    return _svg("Evaluators and sources of references", about, simulated, panels)


def _settings(means: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Heading, name of the row and model of each mean."""
    row = ["references of the data" if name == DATASET else f"references by {names[name]}" for name in means["source"]]
    group = "Evaluator " + means["evaluator"].map(names)
    return pd.DataFrame({"group": group, "row": row, "model": means["model"].map(names)})


def _parts(estimates: "pd.Series[Any]") -> pd.DataFrame:
    columns = {part: [getattr(found, part) for found in estimates] for part in ("value", "low", "high")}
    return pd.DataFrame(columns, index=estimates.index)


def _panel(data: pd.DataFrame, models: Sequence[str], axis: str, line: tuple[float, str], signed: bool = False) -> Any:
    """Values with their intervals over one axis with a dark line; `part` are values shown as strokes."""
    import altair as alt

    colours = [COLOURS[place % len(COLOURS)] for place in range(len(models))]
    shapes = [_SHAPES[place // len(COLOURS) % len(_SHAPES)] for place in range(len(models))]
    domain = [*([_ALL] if signed else []), *models]
    show = number(2, sign=signed)
    texts = pd.Series(["no score" if show(value) == DASH else show(value) for value in data["value"]], data.index)
    data = data.assign(text=texts.mask(data["part"].notna(), None) if "part" in data else texts, line=line[0])
    y = alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=270, domain=False, ticks=False))
    offset = alt.YOffset("model:N", sort=domain)
    legend = None if signed else alt.Legend(title=None, orient="top", labelLimit=270, columns=3)
    colour = alt.Color(
        "model:N", scale=alt.Scale(domain=domain, range=[*([_INK] if signed else []), *colours]), legend=legend
    )
    shape = alt.Shape(
        "model:N", scale=alt.Scale(domain=domain, range=[*(["circle"] if signed else []), *shapes]), legend=legend
    )
    title = f"{axis}; the dark line: {line[1]}"
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(grid=True, titleFontWeight="normal"))
    base = alt.Chart(data).encode(y=y, yOffset=offset)
    layers = [
        alt.Chart(data).mark_rule(color=_INK, strokeWidth=1.2).encode(x="mean(line):Q"),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=colour),
        *([base.mark_tick(size=9, thickness=1.2).encode(x="part:Q", color=colour)] if "part" in data else []),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=x, color=colour, shape=shape),
        base.mark_text(align="right", color=_INK)
        .encode(x=alt.value(_WIDTH + 55), text="text:N")
        .transform_filter("isValid(datum.text)"),
    ]
    step: Any = alt.Step(_ROW, **{"for": "offset"})
    header = alt.Header(title=None, orient="top", labelAnchor="start", labelFontWeight="bold", labelLimit=500)
    return (
        alt.layer(*layers, data=data)
        .properties(width=_WIDTH, height=step)
        .facet(row=alt.Row("group:N", sort=None, header=header), spacing=8)
        .resolve_scale(y="independent")
    )


def _svg(title: str, about: str, simulated: bool, panels: Sequence[Any]) -> str:
    import altair as alt
    import vl_convert

    subtitle = f"{'SIMULATION: the scores mean nothing. ' if simulated else ''}{about}"
    heading = alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitleColor=_SOFT, offset=12)
    chart = (
        alt.vconcat(*panels, title=heading, background="white", padding=16)
        .resolve_scale(color="independent", shape="independent", x="independent", yOffset="independent")
        .configure_view(stroke=None)
        .configure_axis(gridColor=_LINE, domainColor=_LINE, tickColor=_LINE, labelColor=_INK, titleColor=_SOFT)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))
