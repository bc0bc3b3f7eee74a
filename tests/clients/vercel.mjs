// Asks one question with the Vercel AI SDK and a tool; spans go to the model server: node vercel.mjs ADDRESS
import { NodeTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const base = process.argv[2];
const exporter = new OTLPTraceExporter({ url: `${base}/v1/traces` });
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
const search = tool({
  description: "Search the terms.",
  inputSchema: z.object({ query: z.string() }),
  execute: async () => "The warranty period is 24 months from the date of delivery.",
});
await generateText({
  model: createOpenAI({ baseURL: `${base}/v1`, apiKey: "none" }).chat("gpt-4o-mini"),
  system: "Answer from the terms.",
  prompt: "How long is the warranty?",
  tools: { search },
  stopWhen: stepCountIs(3),
  experimental_telemetry: { isEnabled: true },
});
await provider.shutdown();
