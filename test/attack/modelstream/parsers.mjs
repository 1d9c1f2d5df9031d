// Asks a service for a reply by the clients' own libraries, and writes which calls of tools each of them
// reads. A line of the input is {"n", "api", "url", "stream"}; the answer is one line for each reader,
// {"reader", "calls": [[name, arguments], ...], "error"}, and {"end": true}.
import readline from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GoogleGenAI } from '@google/genai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createGoogleGenerativeAI } from '@ai-sdk/google';

globalThis.AI_SDK_LOG_WARNINGS = false;
for (const name of ['log', 'warn', 'error']) console[name] = () => {};
process.on('unhandledRejection', () => {});

const key = { apiKey: 'x' };
const once = { ...key, maxRetries: 0 };
const said = (n) => `case ${n}`;
const asText = (v) => (typeof v === 'string' ? v : JSON.stringify(v));
const tools = ['Bash', 'Read'].map((name) => ({ type: 'function', name, description: name, inputSchema: { type: 'object', properties: { command: { type: 'string' } } } }));

// each collects what visit adds from the events of a stream until it breaks.
async function each(events, visit) {
  const calls = [];
  try {
    for await (const e of events) visit(e, calls);
    return { calls };
  } catch (e) {
    return { calls, error: String(e) };
  }
}

// aiSDK is how opencode reads a reply.
async function aiSDK(model, n, stream) {
  const options = { prompt: [{ role: 'user', content: [{ type: 'text', text: said(n) }] }], tools };
  const add = (part, calls) => {
    if (part.type === 'tool-call' && !part.providerExecuted) calls.push([part.toolName, asText(part.input)]);
  };
  if (stream) return each((await model.doStream(options)).stream, add);
  return each((await model.doGenerate(options)).content, add);
}

const readers = {
  messages: {
    async sdk(n, url, stream) {
      const c = new Anthropic({ ...once, baseURL: url });
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: said(n) }] };
      const m = stream ? await c.messages.stream(body).finalMessage() : await c.messages.create(body);
      return { calls: m.content.filter((b) => b?.type === 'tool_use').map((b) => [b.name, asText(b.input)]) };
    },
    // asClaudeCode joins pieces by the number of their block, and runs a block when it ends.
    async asClaudeCode(n, url, stream) {
      if (!stream) return { calls: [] };
      const c = new Anthropic({ ...once, baseURL: url });
      const blocks = [];
      const events = await c.messages.create({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: said(n) }] });
      return each(events, (e, calls) => {
        const b = blocks[e.index];
        if (e.type === 'content_block_start') blocks[e.index] = { ...e.content_block, pieces: '' };
        else if (e.type === 'content_block_delta' && e.delta.type === 'input_json_delta') b.pieces += e.delta.partial_json;
        else if (e.type === 'content_block_stop' && b.type === 'tool_use') calls.push([b.name, b.pieces || asText(b.input ?? {})]);
      });
    },
    aiSDK: (n, url, stream) => aiSDK(createAnthropic({ ...key, baseURL: `${url}/v1` })('m'), n, stream),
  },
  responses: {
    async sdk(n, url, stream) {
      const c = new OpenAI({ ...once, baseURL: `${url}/v1` });
      const body = { model: 'm', input: said(n) };
      const r = stream ? await c.responses.stream(body).finalResponse() : await c.responses.create(body);
      return { calls: r.output.filter((i) => i?.type === 'function_call' || i?.type === 'custom_tool_call').map((i) => [i.name, asText(i.arguments ?? i.input)]) };
    },
    // asCodex runs each item that is done.
    async asCodex(n, url, stream) {
      if (!stream) return { calls: [] };
      const c = new OpenAI({ ...once, baseURL: `${url}/v1` });
      return each(await c.responses.create({ model: 'm', input: said(n), stream: true }), (e, calls) => {
        if (e.type === 'response.output_item.done' && ['function_call', 'custom_tool_call'].includes(e.item?.type)) calls.push([e.item.name, asText(e.item.arguments ?? e.item.input)]);
      });
    },
    aiSDK: (n, url, stream) => aiSDK(createOpenAI({ ...key, baseURL: `${url}/v1` }).responses('m'), n, stream),
  },
  chat: {
    async sdk(n, url, stream) {
      const c = new OpenAI({ ...once, baseURL: `${url}/v1` });
      const body = { model: 'm', messages: [{ role: 'user', content: said(n) }] };
      const r = stream ? await c.chat.completions.stream(body).finalChatCompletion() : await c.chat.completions.create(body);
      const m = r.choices[0]?.message;
      const calls = [...(m?.tool_calls ?? [])].filter(Boolean).map((t) => [t.function?.name ?? t.custom?.name, asText(t.function?.arguments ?? t.custom?.input)]);
      if (m?.function_call) calls.push([m.function_call.name, asText(m.function_call.arguments)]);
      return { calls };
    },
    // asQwen joins calls of one id, and tells calls of one number apart by their ids if the first is complete. A
    // piece without an id, at the number of a call that is complete, goes to the newest call that is not.
    async asQwen(n, url, stream) {
      if (!stream) return { calls: [] };
      const c = new OpenAI({ ...once, baseURL: `${url}/v1` });
      const slots = new Map();
      const isWhole = (t) => { try { JSON.parse(t); return true; } catch { return false; } };
      let ended = false;
      return each(await c.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: said(n) }], stream: true }), (e, calls) => {
        const choice = e.choices?.[0];
        for (const t of choice?.delta?.tool_calls ?? []) {
          const text = t.function?.arguments ?? '';
          let at = t.index ?? 0;
          const same = [...slots].find(([, s]) => t.id && s.id === t.id);
          if (same) at = same[0];
          else if (t.id && slots.get(at)?.id && (isWhole(slots.get(at).text) || !slots.get(at).text)) at = slots.size;
          else if (!t.id && slots.has(at) && isWhole(slots.get(at).text)) at = [...slots].filter(([, s]) => !isWhole(s.text)).map(([i]) => i).pop() ?? slots.size;
          if (!slots.has(at)) slots.set(at, { text: '' });
          const s = slots.get(at);
          s.id ??= t.id;
          s.name ||= t.function?.name?.trim();
          if (!(same && isWhole(s.text))) s.text += text;
        }
        if (choice?.finish_reason && !ended) {
          ended = true;
          for (const s of slots.values()) if (s.name) calls.push([s.name, asText(s.text)]);
        }
      });
    },
    aiSDK: (n, url, stream) => aiSDK(createOpenAICompatible({ ...key, name: 'x', baseURL: `${url}/v1` })('m'), n, stream),
    aiSDKOfOpenAI: (n, url, stream) => aiSDK(createOpenAI({ ...key, baseURL: `${url}/v1` }).chat('m'), n, stream),
  },
  gemini: {
    async sdk(n, url, stream) {
      const c = new GoogleGenAI({ ...key, httpOptions: { baseUrl: url } });
      const body = { model: 'm', contents: [{ role: 'user', parts: [{ text: said(n) }] }] };
      const add = (r, calls) => calls.push(...(r.functionCalls ?? []).map((f) => [f.name, asText(f.args ?? {})]));
      return each(stream ? await c.models.generateContentStream(body) : [await c.models.generateContent(body)], add);
    },
    aiSDK: (n, url, stream) => aiSDK(createGoogleGenerativeAI({ ...key, baseURL: `${url}/v1beta` })('m'), n, stream),
  },
};

const late = () => new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 10000).unref());
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { n, api, url, stream } = JSON.parse(line);
  for (const [name, read] of Object.entries(readers[api])) {
    let answer;
    try {
      answer = await Promise.race([read(n, url, stream), late()]);
    } catch (e) {
      answer = { calls: [], error: String(e) };
    }
    process.stdout.write(`${JSON.stringify({ reader: `${api} ${name}`, calls: answer.calls, error: answer.error?.slice(0, 300) })}\n`);
  }
  process.stdout.write('{"end":true}\n');
}
