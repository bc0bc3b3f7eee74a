"""The join: nothing forgotten, reports acknowledged only after their answer's commit."""

from datetime import UTC, datetime
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.reports import Report
from schemas.topics import REPORT_TOPICS
from tests.harness.operations import count_operations
from workers.delivery.join.pending_answers import AnswerJoin, Arrival
from workers.delivery.records import Record
from workers.pipeline.reports import report_topic

AGENTS = tuple(REPORT_TOPICS)
PLUGIN = "tone"
NOW = datetime(2026, 11, 2, tzinfo=UTC)


def answer_record(offset: int, partition: int = 0) -> Record:
    return Record("answers.generated", partition, offset, None, b"{}")


def answer(offset: int, tenant: str = "default") -> GeneratedAnswer:
    return GeneratedAnswer(answer_id=f"a{offset}", tenant=tenant, answer="text", completed_at=NOW)


def report(
    agent: str, answer_offset: int, *, status: str = "ok", partition: int = 0, tenant: str = "default"
) -> Report:
    return Report(
        tenant=tenant, judgement_id=f"{agent}-{answer_offset}", answer_id=f"a{answer_offset}", agent=agent,
        pipeline_version="1", answer_partition=partition, answer_offset=answer_offset, status=status, judged_at=NOW,
    )  # fmt: skip


def report_record(agent: str, offset: int, partition: int = 0) -> Record:
    return Record(report_topic(agent).name, partition, offset, None, b"{}")


def add_report(
    join: AnswerJoin, agent: str, answer_offset: int, *, at: int = 0, position: int | None = None,
    committed: int | None = None, status: str = "ok", now: float = 0.0, tenant: str = "default",
) -> Arrival:  # fmt: skip
    return join.add_report(
        agent, report(agent, answer_offset, status=status, tenant=tenant), report_record(agent, at),
        now=now, committed=committed, position=position, store_late=agent == PLUGIN,
    )  # fmt: skip


@given(st.permutations(["answer", *AGENTS]))
def test_any_order_of_arrival_joins_completely(order: list[str]) -> None:
    join = AnswerJoin(AGENTS, 60)
    results = []
    for name in order:
        if name == "answer":
            results.append(join.add_answer(answer_record(5), answer(5), 0.0))
        else:
            position = 6 if "answer" in order[: order.index(name)] else 5
            arrival = add_report(join, name, 5, position=position)
            assert arrival.places == ()
            results.append(arrival.joined)
    assert [result is not None for result in results] == [False, False, False, True]
    assert results[-1] is not None
    assert set(results[-1].reports) == set(AGENTS)
    assert results[-1].missing == ()
    assert join.waiting_answers() == 0
    assert all(join.early_reports(agent) == 0 for agent in AGENTS)


def test_reports_are_acknowledged_only_when_their_answers_commit_is_confirmed() -> None:
    join = AnswerJoin(AGENTS, 60)
    join.add_answer(answer_record(5), answer(5), 0.0)
    for number, agent in enumerate(AGENTS):
        assert add_report(join, agent, 5, at=number, position=6).places == ()
    assert join.committed(0, 5) == []
    places = join.committed(0, 6)
    assert {(place.topic, place.offset) for place in places} == {
        (REPORT_TOPICS[agent].name, number) for number, agent in enumerate(AGENTS)
    }
    assert join.held_reports() == 0


def test_a_report_whose_answer_is_committed_is_an_orphan_and_acknowledged_at_once() -> None:
    join = AnswerJoin(AGENTS, 60)
    arrival = add_report(join, "quality", 4, at=9, committed=5)
    assert arrival.joined is None
    assert [(place.topic, place.offset) for place in arrival.places] == [("answers.quality", 9)]
    assert join.held_reports() == 0


def test_a_late_report_of_an_emitted_answer_waits_for_the_commit_and_emits_nothing() -> None:
    join = AnswerJoin(AGENTS, 60)
    join.add_answer(answer_record(5), answer(5), 0.0)
    add_report(join, "citations", 5, position=6)
    [late] = join.expire(60.0)
    assert late.missing == ("grounding", "quality")
    assert add_report(join, "grounding", 5, at=3, position=6) == Arrival()
    assert len(join.committed(0, 6)) == 2


def test_the_deadline_counts_from_the_answer_and_early_reports_wait_for_ever() -> None:
    join = AnswerJoin(AGENTS, 60)
    add_report(join, "citations", 5, position=5, now=0.0)
    assert join.expire(1_000.0) == []
    join.add_answer(answer_record(5), answer(5), 1_000.0)
    assert join.expire(1_059.0) == []
    assert len(join.expire(1_060.0)) == 1


def test_an_answer_behind_a_backlog_is_not_late_while_its_agent_gets_on() -> None:
    join = AnswerJoin(AGENTS, 60)
    for offset in range(100):
        join.add_answer(answer_record(offset), answer(offset), 0.0)
    for offset in range(99):
        now = offset * 10.0
        for agent in AGENTS:
            add_report(join, agent, offset, position=100, now=now)
        assert join.expire(now) == []
    assert join.expire(98 * 10.0 + 59.0) == []
    [late] = join.expire(98 * 10.0 + 60.0)
    assert late.record.offset == 99


def test_an_answer_that_its_agent_has_passed_is_late_though_the_agent_goes_on() -> None:
    join = AnswerJoin(["quality"], 60)
    for offset in range(100):
        join.add_answer(answer_record(offset), answer(offset), 0.0)
    expired = []
    for offset in (offset for offset in range(100) if offset != 3):
        add_report(join, "quality", offset, position=100, now=offset * 10.0)
        expired += [(offset, joined.record.offset) for joined in join.expire(offset * 10.0)]
    assert expired == [(10, 3)], "passed at 40 s, late at 100 s"


def test_an_answer_that_waits_for_the_turn_of_its_tenant_is_not_late() -> None:
    join = AnswerJoin(["quality"], 60, 600)
    tenants = ["large"] * 100 + ["small"] * 20
    for offset, tenant in enumerate(tenants):
        join.add_answer(answer_record(offset), answer(offset, tenant), 0.0)
    # The tenants take turns, so that the agent reports on the small one's answers among the first of the large one's.
    for turn in range(100):
        for offset in (turn, 100 + turn):
            if offset < len(tenants) and (offset < 100 or turn < 20):
                now = 4.0 * turn
                joined = add_report(join, "quality", offset, position=120, now=now, tenant=tenants[offset]).joined
                assert joined is not None and not joined.missing
                assert join.expire(now) == []
    assert join.waiting_answers() == 0


def test_an_answer_that_its_agent_has_passed_with_a_later_one_of_its_tenant_is_late() -> None:
    join = AnswerJoin(["quality"], 60, 600)
    for offset, tenant in enumerate(("a", "b", "a", "b")):
        join.add_answer(answer_record(offset), answer(offset, tenant), 0.0)
    add_report(join, "quality", 3, position=4, now=10.0, tenant="b")
    add_report(join, "quality", 2, position=4, now=30.0, tenant="a")
    assert [joined.record.offset for joined in join.expire(70.0)] == [1]
    assert [joined.record.offset for joined in join.expire(89.0)] == []
    assert [joined.record.offset for joined in join.expire(90.0)] == [0]


def test_patience_with_an_agent_that_has_only_passed_with_other_tenants_is_bounded() -> None:
    join = AnswerJoin(["quality"], 60, 600)
    join.add_answer(answer_record(0), answer(0, "a"), 0.0)
    late_at = None
    for now in range(10, 1_000, 10):
        add_report(join, "quality", now, position=10_000, now=float(now), tenant="b")
        if join.expire(float(now)):
            late_at = now
            break
    assert late_at == 10 + 600 + 60


def test_progress_of_tenants_that_wait_for_nothing_is_forgotten() -> None:
    join = AnswerJoin(["quality"], 60, 600)
    for offset in range(200):
        join.add_answer(answer_record(offset), answer(offset, f"t{offset}"), float(offset))
        add_report(join, "quality", offset, position=offset + 1, now=float(offset), tenant=f"t{offset}")
        join.expire(float(offset))
    assert sum(len(tenants) for tenants in join._partitions[0].turns.values()) <= 1


def test_an_agent_busy_with_other_partitions_is_granted_bounded_patience() -> None:
    join = AnswerJoin(["quality"], 60, 600)
    join.add_answer(answer_record(5, partition=1), answer(5), 0.0)
    late_at = None
    for now in range(0, 1_000, 10):
        add_report(join, "quality", now, position=10_000, now=float(now))
        if join.expire(float(now)):
            late_at = now
            break
    assert late_at == 660


def test_a_failed_report_does_not_replace_a_good_one_but_a_good_one_replaces_a_failed_one() -> None:
    join = AnswerJoin(AGENTS, 60)
    join.add_answer(answer_record(5), answer(5), 0.0)
    add_report(join, "citations", 5, position=6, status="failed")
    add_report(join, "citations", 5, at=1, position=6, status="ok")
    add_report(join, "citations", 5, at=2, position=6, status="failed")
    [late] = join.expire(60.0)
    assert late.reports["citations"].status == "ok"
    assert len(join.committed(0, 6)) == 3


def test_early_reports_whose_answer_never_comes_are_let_go_with_the_commit_that_passes_them() -> None:
    join = AnswerJoin(AGENTS, 60)
    add_report(join, "citations", 5, position=5)
    assert join.early_reports("citations") == 1
    assert len(join.committed(0, 9)) == 1
    assert join.early_reports("citations") == 0


def test_partitions_do_not_mix() -> None:
    join = AnswerJoin(AGENTS, 60)
    join.add_answer(answer_record(5, partition=1), answer(5), 0.0)
    for agent in AGENTS:
        assert add_report(join, agent, 5, position=5).joined is None
    assert join.waiting_answers(1) == 1
    assert join.waiting_answers(0) == 0


def test_clear_forgets_everything() -> None:
    join = AnswerJoin(AGENTS, 60)
    join.add_answer(answer_record(5), answer(5), 0.0)
    add_report(join, "citations", 6, position=6)
    join.clear()
    assert join.waiting_answers() == join.early_reports("citations") == join.held_reports() == 0
    assert join.expire(1_000.0) == []


@given(st.lists(st.tuples(st.sampled_from(["answer", *AGENTS]), st.integers(0, 6)), unique=True, max_size=28))
def test_every_answer_is_emitted_exactly_once_and_every_report_acknowledged_once(
    arrivals: list[tuple[str, int]],
) -> None:
    """Answers in order of offset, reports anyhow, some missing; then the deadline and the commit."""
    answers = sorted(offset for kind, offset in arrivals if kind == "answer")
    sequence = iter(answers)
    join = AnswerJoin(AGENTS, 60)
    emitted: list[int] = []
    position = 0
    places = 0
    for number, (kind, offset) in enumerate(arrivals):
        if kind == "answer":
            offset = next(sequence)
            position = offset + 1
            joined = join.add_answer(answer_record(offset), answer(offset), 0.0)
        else:
            arrival = add_report(join, kind, offset, at=number, position=position)
            joined = arrival.joined
            places += len(arrival.places)
        if joined is not None:
            emitted.append(joined.record.offset)
    emitted += [joined.record.offset for joined in join.expire(60.0)]
    places += len(join.committed(0, 100))
    assert sorted(emitted) == answers
    assert places == sum(kind != "answer" for kind, _ in arrivals)
    assert join.held_reports() == 0
    assert all(join.early_reports(agent) == 0 for agent in AGENTS)


def plugin_join() -> AnswerJoin:
    return AnswerJoin(AGENTS, 60, optional=[PLUGIN], optional_seconds=20)


def with_builtin_reports(join: AnswerJoin, now: float) -> None:
    join.add_answer(answer_record(5), answer(5), 0.0)
    for agent in AGENTS:
        assert add_report(join, agent, 5, position=6, now=now).joined is None


def test_an_answer_is_complete_only_with_the_report_of_its_plugin() -> None:
    join = plugin_join()
    with_builtin_reports(join, 1.0)
    joined = add_report(join, PLUGIN, 5, position=6, now=2.0).joined
    assert joined is not None and set(joined.reports) == {*AGENTS, PLUGIN} and joined.missing == ()


def test_an_answer_waits_for_a_plugin_a_fixed_time_from_its_last_other_report() -> None:
    join = plugin_join()
    with_builtin_reports(join, 30.0)
    # Reports on other answers grant a plug-in no further patience.
    add_report(join, PLUGIN, 9, position=6, now=49.0)
    assert join.expire(49.9) == []
    [late] = join.expire(50.0)
    assert late.missing == (PLUGIN,)


def test_a_plugin_that_reports_twice_completes_no_answer() -> None:
    join = plugin_join()
    join.add_answer(answer_record(5), answer(5), 0.0)
    for at, agent in enumerate((*AGENTS[:2], PLUGIN, PLUGIN)):
        assert add_report(join, agent, 5, at=at, position=6).joined is None
    assert add_report(join, AGENTS[2], 5, at=9, position=6).joined is not None


def test_a_missing_builtin_report_is_waited_for_in_spite_of_the_plugin() -> None:
    join = plugin_join()
    join.add_answer(answer_record(5), answer(5), 0.0)
    add_report(join, PLUGIN, 5, position=6)
    assert join.expire(59.0) == []
    [late] = join.expire(60.0)
    assert late.missing == AGENTS


def test_a_late_report_of_a_plugin_is_handed_back_to_be_stored() -> None:
    join = plugin_join()
    with_builtin_reports(join, 0.0)
    assert len(join.expire(20.0)) == 1
    assert add_report(join, PLUGIN, 5, at=7, position=6) == Arrival(late=True)
    assert add_report(join, PLUGIN, 5, at=8, position=6, committed=6) == Arrival(late=True)
    assert len(join.committed(0, 6)) == len(AGENTS), "its caller acknowledges a late report"


def test_a_look_at_the_deadlines_costs_the_same_however_many_answers_wait() -> None:
    costs = []
    for waiting in (10, 5_000):
        join = AnswerJoin(AGENTS, 60)
        for offset in range(waiting):
            join.add_answer(answer_record(offset), answer(offset), 0.0)
        costs.append(count_operations(partial(join.expire, 59.0), ("workers.delivery.",)))
    assert costs[0] == costs[1] > 0


STEPS = st.one_of(
    st.tuples(st.just("answer"), st.integers(0, 9)),
    st.tuples(st.sampled_from([*AGENTS, PLUGIN]), st.integers(0, 9)),
    st.tuples(st.just("seconds"), st.integers(1, 40)),
)


@given(st.lists(STEPS, max_size=60))
def test_after_a_look_no_answer_waits_that_is_late_as_it_stands(steps: list[tuple[str, int]]) -> None:
    join = AnswerJoin(AGENTS, 60, 100, optional=(PLUGIN,), optional_seconds=20)
    now, sent = 0.0, 0
    for what, number in steps:
        if what == "seconds":
            now += number
            join.expire(now)
            waiting = [
                (partition, offset, pending)
                for partition in join._partitions.values()
                for offset, pending in partition.pending.items()
                if pending.record is not None
            ]
            assert all(join._late_at(*each) > now for each in waiting)
        elif what == "answer":
            join.add_answer(answer_record(sent), answer(sent, f"t{sent % 2}"), now)
            sent += 1
        else:
            add_report(join, what, number, position=sent, now=now, tenant=f"t{number % 2}")
