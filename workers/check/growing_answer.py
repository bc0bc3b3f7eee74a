"""Evaluate an answer while its text arrives: its finished sentences as they come, and in the end the whole answer.

Each evaluation is that of ``CheckService`` on the answer up to a sentence's end, one at a time: sentences that arrive
meanwhile are evaluated together, and claims that were measured before are not measured again. The last one, on the whole
answer, begins as soon as the text has ended and measures everything, so that it equals the check of the whole answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from schemas.reasoning import blanked
from workers.check.check_models import CheckedAnswer, CheckedPart, checked_part, unchecked_part
from workers.check.check_service import ChecksBusy, CheckTimedOut
from workers.decision.stream_stop import StopOn, stop_reason
from workers.evaluation.grounding.claim_memory import ClaimMemory
from workers.evaluation.text.structure.finished_sentences import finished_ends

MAX_CODE_POINTS = 60_000
"""Maximum length of an answer (``schemas.base.AnswerText``)."""
SEGMENTED_ALWAYS = 2_000
"""Length of unfinished text up to which every addition is searched for sentences, code points."""
GROWTH = 1.1
"""Growth of longer unfinished text after which it is searched again, so that the work stays linear."""


class GrowingAnswer:
    """Hold the text of an answer that still arrives.

    Attributes:
        text: the text so far.
        ended: set when the text is complete.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.ended = asyncio.Event()
        self._changed = asyncio.Event()
        self._error: Exception | None = None

    def add(self, text: str) -> None:
        """Append text."""
        self.text += text
        self._changed.set()

    def end(self, error: Exception | None = None) -> None:
        """Finish the text.

        Args:
            error: the reason if the rest of the text cannot be read.
        """
        self._error = self._error or error
        self.ended.set()
        self._changed.set()

    def check_error(self) -> None:
        """Raise the error with which the text ended, if any."""
        if self._error is not None:
            raise self._error

    async def next_end(self, start: int) -> int | None:
        """Wait for a finished sentence behind an offset; return its end, or ``None`` when the text has ended."""
        searched = 0
        while not self.ended.is_set():
            self._changed.clear()
            unfinished = len(self.text) - start
            if unfinished <= SEGMENTED_ALWAYS or unfinished >= searched * GROWTH:
                searched = unfinished
                ends = await asyncio.to_thread(finished_ends, blanked(self.text), start)
                if ends and not self.ended.is_set():
                    return ends[-1]
            await self._changed.wait()
        return None


async def checked_parts(
    growing: GrowingAnswer,
    check: Callable[[str, ClaimMemory | None], Awaitable[CheckedAnswer]],
    stop_on: StopOn = "nothing",
) -> AsyncGenerator[CheckedPart | CheckedAnswer, None]:
    """Yield the findings on finished sentences, and in the end those on the whole answer.

    Args:
        growing: the text.
        check: evaluates the answer with this text, within the deadline and with the memory of its claims.
        stop_on: the findings with which the stream stops; the part with them is then the last one.

    Raises:
        Exception: the whole answer cannot be evaluated, as ``CheckService.check`` says, or its text ended with an error.
    """
    checked, claims_end, memory = 0, 0, ClaimMemory()
    while (end := await growing.next_end(checked)) is not None:
        working = asyncio.ensure_future(check(blanked(growing.text)[:end], memory))
        ending = asyncio.ensure_future(growing.ended.wait())
        try:
            await asyncio.wait([working, ending], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                break  # the whole answer is evaluated instead
            found = working.result()
            part = checked_part(checked, end, claims_end, found)
            part.stop = stop_reason(part.claims, part.hallucination_risk, stop_on)
            yield part
            if part.stop:
                return
            claims_end = max([claims_end, *(claim.span.end for claim in found.claims)])
        except (CheckTimedOut, ChecksBusy) as error:
            yield unchecked_part(checked, end, str(error))
        finally:
            working.cancel()
            ending.cancel()
        checked = end
    growing.check_error()
    yield await check(growing.text, None)
