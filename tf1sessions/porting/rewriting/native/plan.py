"""The changes where one LegacyGraph is made and used."""

from __future__ import annotations

import ast
import dataclasses

from ..requests.request import NotPossible, names_in
from . import (
    averages,
    call_sites,
    called_again,
    caught,
    changed_state,
    functions,
    iterators,
    late_prints,
    lists,
    made_late,
    normalization,
    objects,
    outputs,
    purity,
    resets,
    set_before,
    shared_draws,
    sparse,
    summaries,
)
from .kinds import creates
from .statements import Item
from .texts import indented
from .training import TapeStep, check_optimizers, check_orders, tape_step
from .unit import PLACEHOLDERS, Unit

__all__ = ["write"]


def write(unit: Unit) -> None:
    """Note all changes."""
    moved = [item for item in unit.items if unit.is_moved(item)]
    moved += [item for each in unit.iterators.values() for items in each.items.values() for item in items]
    caught.check_caught(unit)
    sparse.check_fetches(unit)
    shared_draws.check_shared_draws(unit, moved)
    purity.check_effects(unit, moved)
    functions.check_rebinding(unit, moved)
    changed_state.check_state(unit, moved)
    changed_state.check_identity(unit)
    objects.rewrite_calls(unit)
    resets.write_datasets(unit)
    outputs.write_summaries(unit)
    averages.find_restored(unit)
    averages.check_averages(unit)
    lists.list_variables(unit)
    averages.write_averages(unit)
    outputs.drop_resets(unit)
    functions.check_rebinding(unit, [item for item in unit.items if unit.is_moved(item)])  # of placeholders, too
    unit.check_made_once()
    check_optimizers(unit.kinds, unit.items, unit.scope)
    _write(unit)


def _write(unit: Unit) -> None:
    moved = [item for item in unit.items if unit.is_moved(item)]
    for item in moved:
        step = tape_step(unit.kinds, unit.texts, item, unit.scope, unit)
        if step is not None and step.optimizer in unit.rates:
            rate, variable = unit.rates[step.optimizer]
            item.reads |= names_in([rate])
            line = f"{variable}.assign({unit.rate_texts[rate]})"
            step = dataclasses.replace(step, lines=[line, *step.lines] if step.is_operation else step.lines)
        if item in unit.tape_lists:
            step = TapeStep(unit.texts.statement(item.statement), None, False) if step is None else step
        if step is not None:
            unit.steps[item] = step
        if (step is not None and step.is_operation) or unit.is_operation(item):
            unit.operations |= item.binds
    check_orders(moved, unit.steps)
    functions.check_rebinding(unit, moved)  # with the learning rates that are known now
    functions.check_uses(unit, moved)
    normalization.find_frozen(unit, moved)
    running = []
    if unit.built is not None:
        running.append(lists.building_request(unit, *unit.built))
    for request in unit.requests:
        call_sites.check_nested(unit, request)
        if all(map(unit.is_initializer, request.leaves)) and iterators.begins_anew(unit, request):
            resets.write_reset(unit, request)
        elif all(map(unit.is_initializer, request.leaves)):
            outputs.remove_initialization(unit, request)
        elif any(map(unit.is_initializer, request.leaves)):
            raise NotPossible(
                request.statement or unit.made, "A request runs an initializer, and fetches something else"
            )
        elif not request.feeds and all(unit.has_only_variables(leaf) for leaf in request.leaves):
            call_sites.read_variables(unit, request)
        elif call_sites.is_eager(unit, request, moved):
            call_sites.run_eagerly(unit, request)
        else:
            running.append(request)
    running.sort(key=lambda each: functions.place(unit, each).lineno)
    outputs.check_initializations(unit)
    late_prints.note_late_prints(unit, [each for each in moved if not isinstance(each.statement, ast.Expr)])
    called_again.check_called_once(unit)
    set_before.check_set_before(unit)
    functions.write_requests(unit, moved, running)
    outputs.use_summaries(unit)
    outputs.write_savers(unit)
    made_late.build_before_saving(unit, running)
    _write_blocks(unit)
    unit.replaced[unit.made] = []


def _write_blocks(unit: Unit) -> None:
    """``with legacy:`` becomes what is made once."""
    for block, items in unit.blocks:
        lines: list[str] = []
        by_statement = {item.statement: item for item in items}
        for statement in block.body:
            lines += _made_once(unit, statement, by_statement)
        lines += unit.helpers.get(block, [])
        unit.replaced[block] = _spaced(lines, len(unit.blank))
    for block in unit.unwrapped:
        texts = [
            unit.replaced.pop(each) if each in unit.replaced else unit.texts.statement(each) for each in block.body
        ]
        unit.replaced[block] = _spaced([line for each in texts for line in each], len(unit.blank))


def _made_once(unit: Unit, statement: ast.stmt, items: dict[ast.stmt, Item]) -> list[str]:
    before = [""] if _has_blank_before(unit, statement) else []
    if statement in unit.replaced:
        return unit.replaced.pop(statement)
    if statement not in items:
        if not isinstance(statement, ast.With):
            return []
        inside = _spaced([line for each in statement.body for line in _made_once(unit, each, items)], 1)
        header = functions.context_line(unit, statement)
        inner = [items[each] for each in ast.walk(statement) if each in items]
        inside = [header, *indented(inside)] if header and inside and _makes_named(unit, inner) else inside
        is_outermost = not any(isinstance(each, ast.With) and each in items for each in unit.file.around(statement))
        return [*inside, *(line for each in inner if is_outermost for line in _writer(unit, each))]
    item = items[statement]
    if not unit.is_moved(item):
        return [*before, *unit.before.get(item, []), *unit.texts.with_comments(statement), *unit.after.get(item, [])]
    made = [f"{name} = {expression}" for name, expression, _ in unit.objects.get(item, [])]
    if not item.context:
        made += _writer(unit, item)
    made = [*unit.before.get(item, []), *made, *unit.after.get(item, [])]
    return [*before, *made] if made else []


def _writer(unit: Unit, item: Item) -> list[str]:
    """The function that writes the summaries which a statement merges."""
    if item not in unit.writers:
        return []
    is_traced = outputs.is_traced(unit, item)
    name, base = unit.writers[item], unit.texts.tensorflow
    lines = summaries.writing_function(unit.texts, name, base, unit.merges[item], is_traced)
    return [*unit.blank, *lines, *unit.blank]


def _makes_named(unit: Unit, items: list[Item]) -> bool:
    """Whether one of the statements of a scope makes what has names: neither optimizers nor specs have any."""
    for item in items:
        if any(kind != "optimizer" for _, _, kind in unit.objects.get(item, [])):
            return True
        value = getattr(item.statement, "value", None)
        symbol = unit.kinds.symbol(value.func) if isinstance(value, ast.Call) else None
        if not unit.is_moved(item) and creates(symbol) != "optimizer" and symbol not in PLACEHOLDERS:
            return True
    return False


def _has_blank_before(unit: Unit, statement: ast.stmt) -> bool:
    line = unit.texts.first_line(statement) - 1
    return line > 0 and not unit.texts.lines[line - 1].strip()


def _spaced(lines: list[str], most: int) -> list[str]:
    """Without empty lines at the beginning, and without more of them at a time than a number."""
    found: list[str] = []
    empty = most  # how many empty lines are at the end
    for line in lines:
        empty = 0 if line.strip() else empty + 1
        if empty <= most:
            found.append(line)
    return found
