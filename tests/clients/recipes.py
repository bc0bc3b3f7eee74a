"""Ask one question with each client, as its own documentation shows it.

Each recipe gets the address of the model server and a tracer provider that exports to it. Packages of clients are
imported within the recipes, because they are not dependencies of Touchstone.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.clients.model_server import DOCUMENT, MODEL, QUESTION

PROMPT = [
    {"role": "system", "content": f"Answer from the source.\n[1] {DOCUMENT}"},
    {"role": "user", "content": QUESTION},
]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A client.

    Attributes:
        packages: its packages, whose first names the client.
        ask: asks the question.
        form: format of what it sends.
        beside: further packages that its documentation installs.
    """

    packages: tuple[str, ...]
    ask: Callable[[str, Any], None]
    form: str = "otlp"
    beside: tuple[str, ...] = ()


PAYLOADS: list[Any] = []
"""Payloads of callbacks that a recipe keeps."""


def _openai(base: str) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=f"{base}/v1", api_key="none")


def openllmetry_openai(base: str, provider: Any) -> None:
    """Ask with OpenAI's client and OpenLLMetry's instrumentation."""
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _openai(base).chat.completions.create(model=MODEL, messages=PROMPT)


def openinference_openai(base: str, provider: Any) -> None:
    """Ask with OpenAI's client and OpenInference's instrumentation."""
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _openai(base).chat.completions.create(model=MODEL, messages=PROMPT)


def openinference_responses(base: str, provider: Any) -> None:
    """Ask OpenAI's Responses API with OpenInference's instrumentation."""
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _openai(base).responses.create(model=MODEL, input=PROMPT)


def _retriever() -> Any:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Terms(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(page_content=DOCUMENT, metadata={"source": "terms.md"}, id="terms-4")]

    return Terms()


def _chain(base: str) -> Any:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough
    from langchain_openai import ChatOpenAI

    prompt = ChatPromptTemplate.from_messages([("system", "Answer from: {context}"), ("user", "{question}")])
    model = ChatOpenAI(model=MODEL, base_url=f"{base}/v1", api_key="none")
    return {"context": _retriever(), "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def openinference_langchain(base: str, provider: Any) -> None:
    """Ask a LangChain chain with a retriever, instrumented by OpenInference."""
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)
    _chain(base).invoke(QUESTION, config={"metadata": {"session_id": "session-1"}})


def openinference_langchain_openai(base: str, provider: Any) -> None:
    """Ask a LangChain chain with both instrumentors of OpenInference, of LangChain and of OpenAI."""
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    openinference_langchain(base, provider)


def openllmetry_langchain(base: str, provider: Any) -> None:
    """Ask a LangChain chain with a retriever, instrumented by OpenLLMetry, with OpenAI's instrumentor."""
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    LangchainInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chain(base).invoke(QUESTION)


def langgraph_agent(base: str, provider: Any) -> None:
    """Ask a LangChain agent with a tool, instrumented by OpenInference."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)

    @tool
    def search(query: str) -> str:
        """Search the terms."""
        return DOCUMENT

    model = ChatOpenAI(model=MODEL, base_url=f"{base}/v1", api_key="none")
    create_agent(model, [search]).invoke({"messages": [{"role": "user", "content": QUESTION}]})


def _query_engine(base: str) -> Any:
    from llama_index.core import Document, Settings, SummaryIndex
    from llama_index.llms.openai import OpenAI

    Settings.llm = OpenAI(model=MODEL, api_base=f"{base}/v1", api_key="none")
    return SummaryIndex.from_documents([Document(text=DOCUMENT, id_="terms-4")]).as_query_engine()


def openinference_llamaindex(base: str, provider: Any) -> None:
    """Ask a LlamaIndex query engine, instrumented by OpenInference."""
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    _query_engine(base).query(QUESTION)


def openllmetry_llamaindex(base: str, provider: Any) -> None:
    """Ask a LlamaIndex query engine, instrumented by OpenLLMetry, with OpenAI's instrumentor."""
    from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    _query_engine(base).query(QUESTION)


def openinference_dspy(base: str, provider: Any) -> None:
    """Ask a DSPy program with a retrieved passage, with the instrumentors of DSPy and litellm."""
    import dspy
    from openinference.instrumentation.dspy import DSPyInstrumentor

    DSPyInstrumentor().instrument(tracer_provider=provider)
    try:
        from openinference.instrumentation.litellm import LiteLLMInstrumentor

        LiteLLMInstrumentor().instrument(tracer_provider=provider)
    except ImportError:
        pass
    dspy.configure(lm=dspy.LM(f"openai/{MODEL}", api_base=f"{base}/v1", api_key="none", cache=False))

    class Rag(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.answer = dspy.ChainOfThought("context, question -> answer")

        def forward(self, question: str) -> Any:
            return self.answer(context=DOCUMENT, question=question)

    Rag()(question=QUESTION)


def openinference_litellm(base: str, provider: Any) -> None:
    """Ask with litellm, instrumented by OpenInference."""
    import litellm
    from openinference.instrumentation.litellm import LiteLLMInstrumentor

    LiteLLMInstrumentor().instrument(tracer_provider=provider)
    litellm.completion(model=f"openai/{MODEL}", messages=PROMPT, api_base=f"{base}/v1", api_key="none")


def openinference_haystack(base: str, provider: Any) -> None:
    """Ask a Haystack pipeline with a retriever, instrumented by OpenInference."""
    from haystack import Document, Pipeline
    from haystack.components.builders import ChatPromptBuilder
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.utils import Secret
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)
    store = InMemoryDocumentStore()
    store.write_documents([Document(id="terms-4", content=DOCUMENT)])
    template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }}{% endfor %}\nQuestion: {{ question }}")]
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("prompt", ChatPromptBuilder(template=template, required_variables="*"))
    pipeline.add_component(
        "llm", OpenAIChatGenerator(api_key=Secret.from_token("none"), model=MODEL, api_base_url=f"{base}/v1")
    )
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    pipeline.run({"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}})


def _agents(base: str) -> None:
    import asyncio

    from agents import Agent, OpenAIResponsesModel, Runner, function_tool
    from openai import AsyncOpenAI

    @function_tool
    def search(query: str) -> str:
        """Search the terms."""
        return DOCUMENT

    model = OpenAIResponsesModel(model=MODEL, openai_client=AsyncOpenAI(base_url=f"{base}/v1", api_key="none"))
    agent = Agent(name="assistant", instructions="Answer from the terms.", model=model, tools=[search])
    asyncio.run(Runner.run(agent, QUESTION))


def openinference_agents(base: str, provider: Any) -> None:
    """Ask an agent of OpenAI's Agents SDK with a tool, instrumented by OpenInference."""
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    _agents(base)


def openllmetry_anthropic(base: str, provider: Any) -> None:
    """Ask with Anthropic's client, instrumented by OpenLLMetry."""
    from anthropic import Anthropic
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)
    Anthropic(base_url=base, api_key="none").messages.create(
        model="claude-sonnet-4-5", max_tokens=100, system=PROMPT[0]["content"], messages=PROMPT[1:]
    )


def openinference_anthropic(base: str, provider: Any) -> None:
    """Ask with Anthropic's client, instrumented by OpenInference."""
    from anthropic import Anthropic
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)
    Anthropic(base_url=base, api_key="none").messages.create(
        model="claude-sonnet-4-5", max_tokens=100, system=PROMPT[0]["content"], messages=PROMPT[1:]
    )


def openllmetry_bedrock(base: str, provider: Any) -> None:
    """Ask Bedrock's Converse with boto3, instrumented by OpenLLMetry."""
    from opentelemetry.instrumentation.bedrock import BedrockInstrumentor

    BedrockInstrumentor().instrument(tracer_provider=provider)
    bedrock_converse(base, provider)


def bedrock_converse(base: str, _: Any) -> None:
    """Ask Bedrock's Converse with boto3."""
    _bedrock(base, "bedrock-runtime").converse(
        modelId="anthropic.claude-sonnet-4-5",
        system=[{"text": PROMPT[0]["content"]}],
        messages=[{"role": "user", "content": [{"text": QUESTION}]}],
    )


def bedrock_invoke(base: str, _: Any) -> None:
    """Ask a model of Bedrock with a body of its own; the pair holds what the client takes and returns."""
    asked = {"modelId": "amazon.titan-text-premier-v1:0", "body": json.dumps({"inputText": f"User: {QUESTION}\nBot:"})}
    given = _bedrock(base, "bedrock-runtime").invoke_model(**asked)
    PAYLOADS.append({"request": asked, "response": {"body": given["body"].read().decode()}})


def bedrock_knowledge_base(base: str, _: Any) -> None:
    """Ask a knowledge base of Bedrock."""
    settings = {
        "knowledgeBaseId": "KB12345678",
        "modelArn": "arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-sonnet-4-5",
    }
    _bedrock(base, "bedrock-agent-runtime").retrieve_and_generate(
        input={"text": QUESTION},
        retrieveAndGenerateConfiguration={"type": "KNOWLEDGE_BASE", "knowledgeBaseConfiguration": settings},
    )


def _bedrock(base: str, service: str) -> Any:
    import boto3

    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    return boto3.client(service, endpoint_url=base, region_name="eu-central-1", **keys)


def openai_chat(base: str, _: Any) -> None:
    """Ask OpenAI's Chat Completions."""
    _openai(base).chat.completions.create(model=MODEL, messages=PROMPT, user="user-1")


def openai_responses(base: str, _: Any) -> None:
    """Ask OpenAI's Responses API."""
    _openai(base).responses.create(model=MODEL, input=PROMPT)


def anthropic_messages(base: str, _: Any) -> None:
    """Ask Anthropic's Messages API with a document."""
    from anthropic import Anthropic

    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": DOCUMENT}}
    Anthropic(base_url=base, api_key="none").messages.create(
        model="claude-sonnet-4-5",
        max_tokens=100,
        messages=[{"role": "user", "content": [document, {"type": "text", "text": QUESTION}]}],
    )


def google_generate(base: str, _: Any) -> None:
    """Ask Gemini's generateContent with Google's client."""
    from google import genai

    client = genai.Client(api_key="none", http_options={"base_url": base})
    client.models.generate_content(model="gemini-2.5-flash", contents=QUESTION)


def litellm_callback(base: str, _: Any) -> None:
    """Ask with litellm, with Touchstone's callback and contexts in the call's metadata."""
    import litellm

    from workers.gateways import callback

    class Keeping(callback.TouchstoneCallback):
        def _offer(self, kwargs: Any) -> None:
            payload = callback._with_caller_fields(kwargs.get("standard_logging_object"), kwargs)
            PAYLOADS.append(json.loads(json.dumps(payload, default=str)))

    litellm.callbacks = [Keeping("none:9092")]
    litellm.completion(
        f"openai/{MODEL}",
        messages=PROMPT,
        api_base=f"{base}/v1",
        api_key="none",
        user="user-1",
        metadata={"contexts": [{"id": "terms-4", "text": DOCUMENT}], "session_id": "session-1"},
    )
    until = time.monotonic() + 10
    while not PAYLOADS and time.monotonic() < until:
        time.sleep(0.05)


def cohere_documents(base: str, _: Any) -> None:
    """Ask Cohere's chat (v2) with documents."""
    import cohere

    cohere.ClientV2(api_key="none", base_url=base).chat(
        model="command-a-03-2025",
        messages=[{"role": "user", "content": QUESTION}],
        documents=[{"id": "terms-4", "data": {"text": DOCUMENT, "title": "Terms"}}],
    )


def google_genai(base: str, provider: Any) -> None:
    """Ask Gemini with Google's client, instrumented by OpenLLMetry."""
    from google import genai
    from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor

    GoogleGenerativeAiInstrumentor().instrument(tracer_provider=provider)
    client = genai.Client(api_key="none", http_options={"base_url": base})
    client.models.generate_content(model="gemini-2.5-flash", contents=QUESTION)


def langfuse_sdk(base: str, provider: Any) -> None:
    """Ask with a retriever and a generation of Langfuse's SDK, within one span."""
    from langfuse import Langfuse

    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{base}/v1/traces"
    client = Langfuse(public_key="pk", secret_key="sk", base_url=base, tracing_enabled=True)
    with client.start_as_current_observation(name="handle", as_type="span", input=QUESTION) as span:
        with client.start_as_current_observation(name="search", as_type="retriever", input=QUESTION) as retriever:
            retriever.update(output=[{"id": "terms-4", "content": DOCUMENT}])
        with client.start_as_current_observation(name="llm", as_type="generation", model=MODEL, input=PROMPT) as llm:
            answer = _openai(base).chat.completions.create(model=MODEL, messages=PROMPT)
            said = answer.choices[0].message.content
            llm.update(output=said, usage_details={"input": 40, "output": 12})
        span.update(output=said)
    client.flush()


def pydantic_ai(base: str, provider: Any) -> None:
    """Ask a Pydantic AI agent with a tool and its own instrumentation."""
    from pydantic_ai import Agent
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{base}/v1", api_key="none"))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    agent = Agent(model, instructions="Answer from the terms.")

    @agent.tool_plain
    def search(query: str) -> str:
        """Search the terms."""
        return DOCUMENT

    agent.run_sync(QUESTION)


RECIPES: dict[str, Recipe] = {
    "openai": Recipe(("openai",), openai_chat, form="openai"),
    "openai-responses": Recipe(("openai",), openai_responses, form="openai"),
    "anthropic": Recipe(("anthropic",), anthropic_messages, form="anthropic"),
    "google": Recipe(("google-genai",), google_generate, form="google"),
    "litellm-callback": Recipe(("litellm",), litellm_callback, form="litellm"),
    "openllmetry-openai": Recipe(("opentelemetry-instrumentation-openai", "openai"), openllmetry_openai),
    "openinference-openai": Recipe(("openinference-instrumentation-openai", "openai"), openinference_openai),
    "openinference-responses": Recipe(("openinference-instrumentation-openai", "openai"), openinference_responses),
    "openinference-langchain": Recipe(
        ("openinference-instrumentation-langchain", "langchain"), openinference_langchain, beside=("langchain-openai",)
    ),
    "openinference-langchain-openai": Recipe(
        ("openinference-instrumentation-langchain", "openinference-instrumentation-openai", "langchain"),
        openinference_langchain_openai,
        beside=("langchain-openai",),
    ),
    "openllmetry-langchain": Recipe(
        ("opentelemetry-instrumentation-langchain", "langchain"),
        openllmetry_langchain,
        beside=("langchain-openai", "opentelemetry-instrumentation-openai"),
    ),
    "langgraph-agent": Recipe(
        ("openinference-instrumentation-langchain", "langgraph"),
        langgraph_agent,
        beside=("langchain", "langchain-openai"),
    ),
    "openinference-llamaindex": Recipe(
        ("openinference-instrumentation-llama-index", "llama-index-core"),
        openinference_llamaindex,
        beside=("llama-index-llms-openai",),
    ),
    "openllmetry-llamaindex": Recipe(
        ("opentelemetry-instrumentation-llamaindex", "llama-index-core"),
        openllmetry_llamaindex,
        beside=("llama-index-llms-openai", "opentelemetry-instrumentation-openai"),
    ),
    "openinference-dspy": Recipe(
        ("openinference-instrumentation-dspy", "dspy"),
        openinference_dspy,
        beside=("openinference-instrumentation-litellm",),
    ),
    "openinference-litellm": Recipe(("openinference-instrumentation-litellm", "litellm"), openinference_litellm),
    "openinference-haystack": Recipe(("openinference-instrumentation-haystack", "haystack-ai"), openinference_haystack),
    "openinference-agents": Recipe(
        ("openinference-instrumentation-openai-agents", "openai-agents"), openinference_agents
    ),
    "openllmetry-anthropic": Recipe(("opentelemetry-instrumentation-anthropic", "anthropic"), openllmetry_anthropic),
    "openinference-anthropic": Recipe(
        ("openinference-instrumentation-anthropic", "anthropic"), openinference_anthropic
    ),
    "openllmetry-bedrock": Recipe(("opentelemetry-instrumentation-bedrock", "boto3"), openllmetry_bedrock),
    "bedrock": Recipe(("boto3",), bedrock_converse, form="bedrock"),
    "bedrock-invoke": Recipe(("boto3",), bedrock_invoke, form="bedrock"),
    "bedrock-knowledge-base": Recipe(("boto3",), bedrock_knowledge_base, form="bedrock"),
    "cohere": Recipe(("cohere",), cohere_documents, form="cohere"),
    "openllmetry-google": Recipe(("opentelemetry-instrumentation-google-generativeai", "google-genai"), google_genai),
    "langfuse-sdk": Recipe(("langfuse",), langfuse_sdk, beside=("openai",)),
    "pydantic-ai": Recipe(("pydantic-ai-slim",), pydantic_ai, beside=("openai",)),
}
