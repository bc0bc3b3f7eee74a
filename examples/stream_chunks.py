"""Send an answer in chunks to answers.chunks, and print the findings on its sentences as they come.

TOUCHSTONE_STREAMS__ENABLED=true TOUCHSTONE_CHECK__STOP_ON=contradicted_figure touchstone up
python examples/stream_chunks.py 127.0.0.1:9092
"""

import asyncio
import json
import sys
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

TEXTS = ["The rotor turns at 47", " rpm [1]. It weighs 120 kg [1]. ", "Its housing is", " made of steel."]
FIELDS = {
    "query": "Tell me about the rotor.",
    "contexts": [{"chunk_id": "manual-7", "content": "The rotor turns at 47 rpm. It weighs 12 kg."}],
}


async def main(broker: str) -> None:
    """Send the chunks; print findings until the stream stops or no further one comes."""
    answer_id = str(uuid4())
    producer = AIOKafkaProducer(bootstrap_servers=broker)
    consumer = AIOKafkaConsumer("answers.sentences", bootstrap_servers=broker)
    await producer.start()
    await consumer.start()
    try:
        for index, text in enumerate(TEXTS):
            chunk = {"answer_id": answer_id, "index": index, "text": text, "last": index == len(TEXTS) - 1}
            if index == 0:
                chunk["answer"] = FIELDS
            await producer.send_and_wait("answers.chunks", json.dumps(chunk).encode(), key=answer_id.encode())
        told = 0
        while told < 2:  # the verdict on the last sentence is in answers.released
            found = json.loads((await asyncio.wait_for(consumer.getone(), 30)).value)
            if found["answer_id"] == answer_id:
                told += 1
                text = "".join(TEXTS)[found["start"] : found["end"]].strip()
                print(text, [claim["verdict"] for claim in found["claims"]], found["stop"] or "")
    finally:
        await consumer.stop()
        await producer.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
