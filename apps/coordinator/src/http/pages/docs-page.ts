import { failureCodes, problemTypes } from '@vantage/contract';

import type { Links } from '../links.ts';
import { scalarText, type JsonObject } from '../openapi/json.ts';
import { curlExample } from './curl-example.ts';
import { html, inline, prose, type Html } from './html.ts';
import type { Page } from './page.ts';
import { schemaSections } from './schema-sections.ts';
import { typeOf } from './schema-table.ts';

/** The API reference: the OpenAPI document, and the lists of problem types and failure codes. */
export function docsPage(document: JsonObject, links: Links): Page {
  const info = document['info'] as JsonObject;
  const operations = operationsOf(document);
  const schemas = Object.entries((document['components'] as JsonObject)['schemas'] as JsonObject);
  const body = html`<main>
    <p class="kicker">Version ${scalarText(info['version'])} · base address <code>${links.publicUrl}</code></p>
    <h1>API reference</h1>
    ${prose(scalarText(info['description']))}
    <ul class="toc">
      ${operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>`)}
      <li><a href="#schemas">Schemas</a></li>
      <li><a href="#problems">Problem types</a></li>
      <li><a href="#failures">Failure codes</a></li>
    </ul>
    ${operations.map((operation) => operationSection(operation, links))}
    <h2 id="schemas">Schemas</h2>
    ${schemaSections(schemas as readonly [string, JsonObject][])}
    <h2 id="problems">Problem types</h2>
    ${table(['Type', 'Status', 'Meaning'], problemRows(links))}
    <h2 id="failures">Failure codes</h2>
    <p>What <code>error.code</code> of a probe’s result can be.</p>
    ${table(
      ['Code', 'Meaning'],
      Object.entries(failureCodes).map(([code, meaning]) => [html`<code>${code}</code>`, inline(meaning)]),
    )}
  </main>`;
  return { title: 'Vantage API reference', body };
}

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).map(([method, operation]) => {
      const { operationId, summary } = operation as JsonObject;
      return {
        id: scalarText(operationId),
        summary: scalarText(summary),
        method,
        path,
        operation: operation as JsonObject,
      };
    }),
  );
}

function operationSection({ id, summary, method, path, operation }: Operation, links: Links): Html {
  const parameters = (operation['parameters'] as readonly JsonObject[] | undefined) ?? [];
  const limit = operation['x-rate-limit'] as JsonObject | undefined;
  return html`<section class="operation">
    <h2 id="${id}">${summary}</h2>
    <p><span class="verb ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
    <pre
      tabindex="0"
      role="group"
      aria-label="${summary}: command"
    ><code>${curlExample(links.publicUrl, { method, path, operation })}</code></pre>
    ${typeof operation['description'] === 'string' ? prose(operation['description']) : undefined}
    ${
      limit === undefined
        ? undefined
        : html`<p class="note">
            Limit: ${scalarText(limit['requests'])} requests a minute per ${scalarText(limit['per'])}.
          </p>`
    }
    ${
      parameters.length === 0
        ? undefined
        : html`<h3>Parameters</h3>
            ${table(['Name', 'In', 'Type', 'Meaning'], parameters.map(parameterRow))}`
    }
    ${requestSection(operation['requestBody'] as JsonObject | undefined)}
    <h3>Answers</h3>
    ${answerSection(Object.entries(operation['responses'] as JsonObject))}
  </section>`;
}

/** Table of the responses of an operation; the problems have a separate one, which is folded. */
function answerSection(answers: readonly (readonly [string, unknown])[]): Html {
  const heads = ['Status', 'Body', 'Meaning'];
  const problems = answers.filter(([status]) => !/^[123]/.test(status));
  const others = answers.filter(([status]) => /^[123]/.test(status));
  return html`${others.length === 0 ? undefined : table(heads, others.map(answerRow))}
  ${
    problems.length === 0
      ? undefined
      : html`<details>
          <summary>Problems: ${problems.map(([status]) => status).join(', ')}</summary>
          ${table(heads, problems.map(answerRow))}
        </details>`
  }`;
}

function parameterRow(parameter: JsonObject): readonly Html[] {
  const required = parameter['required'] === true ? html` <span class="note">required</span>` : undefined;
  return [
    html`<code>${scalarText(parameter['name'])}</code>${required}`,
    html`${scalarText(parameter['in'])}`,
    typeOf(parameter['schema'] as JsonObject),
    inline(scalarText(parameter['description'])),
  ];
}

function requestSection(requestBody: JsonObject | undefined): Html | undefined {
  if (requestBody === undefined) return undefined;
  const content = (requestBody['content'] as JsonObject)['application/json'] as JsonObject;
  const examples = Object.values((content['examples'] as JsonObject | undefined) ?? {}) as readonly JsonObject[];
  return html`<h3>Body</h3>
    <p>${typeOf(content['schema'] as JsonObject)}. ${inline(scalarText(requestBody['description']))}</p>
    <pre
      tabindex="0"
      role="group"
      aria-label="Examples"
    ><code>${examples.map(({ value }) => `${JSON.stringify(value)}\n`).join('')}</code></pre>`;
}

function answerRow([status, answer]: readonly [string, unknown]): readonly Html[] {
  const { description, content, headers } = answer as JsonObject;
  const bodies = Object.entries((content as JsonObject | undefined) ?? {});
  const names = Object.keys((headers as JsonObject | undefined) ?? {});
  return [
    html`<code>${status}</code>`,
    html`${bodies.map(([media, body]) => html`${typeOf((body as JsonObject)['schema'] as JsonObject)}<br /><span class="note">${media}</span>`)}`,
    html`${prose(scalarText(description))}${names.length === 0 ? undefined : html`<span class="note">${names.join(', ')}</span>`}`,
  ];
}

function problemRows(links: Links): readonly (readonly Html[])[] {
  return Object.entries(problemTypes).map(([type, { status, title, help }]) => [
    html`<a href="${links.path(`/problems/${type}`)}"><code>${type}</code></a>`,
    html`${status}`,
    html`${title}. ${inline(help)}`,
  ]);
}

function table(heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${heads.join(', ')}">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th>${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...rest]) =>
            html`<tr>
              <th scope="row">${first}</th>
              ${rest.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
