// A table of a few rows with much in each cell; on a phone each row is a block with the heads beside its cells.
import type {ComponentChildren} from 'preact';

export interface Column<T> { head: string; class?: string; cell: (item: T) => ComponentChildren }

/// The roles are named because a phone's layout takes those of a table away.
export function Stack<T>({label, items, columns, keyOf, bad}: {
  label: string; items: T[]; columns: Column<T>[]; keyOf: (item: T) => string; bad?: (item: T) => boolean;
}) {
  return <table class="stack" role="table" aria-label={label}>
    <thead role="rowgroup"><tr role="row">{columns.map((each) => <th key={each.head} role="columnheader" scope="col">{each.head}</th>)}</tr></thead>
    <tbody role="rowgroup">{items.map((item) => <tr role="row" key={keyOf(item)} class={bad?.(item) ? 'bad' : ''}>
      {columns.map((each) => <td role="cell" key={each.head} class={each.class} data-head={each.head}><div>{each.cell(item)}</div></td>)}</tr>)}</tbody>
  </table>;
}
