#include "orchestrator/store/table_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/packed_text.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/tables.h"

namespace cupel::store {
namespace {

constexpr auto kInteger = Column::Kind::integer;
constexpr auto kReal = Column::Kind::real;
constexpr auto kText = Column::Kind::text;
constexpr auto kPacked = Column::Kind::packed;

struct Cell {
  soci::indicator state = soci::i_ok;
  std::int64_t number = 0;
  double real = 0;
  std::string text{};
};
using Cells = std::vector<Cell>;

template <class Exchange>
void exchange(soci::statement& statement, Column::Kind kind, Cell& cell, Exchange how) {
  switch (kind) {
    case kInteger:
      return statement.exchange(how(cell.number, cell.state));
    case kReal:
      return statement.exchange(how(cell.real, cell.state));
    case kText:
    case kPacked:
      return statement.exchange(how(cell.text, cell.state));
  }
}

std::string names(const Table& table, std::size_t first, std::string_view behind = "") {
  std::string all;
  for (std::size_t i = 0; i < first; ++i)
    all += fmt::format("{}{}{}", i == 0 ? "" : ", ", table.columns[i].name, behind);
  return all;
}

std::string marks(std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += fmt::format("{}:c{}", i == 0 ? "" : ", ", i);
  return all;
}

std::string key_in_words(const Table& table, const Cells& row) {
  std::string all;
  for (std::size_t i = 0; i < table.keys; ++i)
    all += fmt::format(
        "{}{} {}", i == 0 ? "" : ", ", table.columns[i].name,
        table.columns[i].kind == kInteger ? std::to_string(row[i].number) : printable(row[i].text));
  return fmt::format("{} ({})", table.name, all);
}

std::vector<Cells> read_rows(soci::session& sql, const Table& table, Cells* behind,
                             const std::string& order, std::size_t most) {
  soci::statement rows{sql};
  Cells row(table.columns.size());
  std::string where;
  if (behind != nullptr) {
    where = fmt::format("WHERE ({}) > ({}) ", names(table, table.keys), marks(table.keys));
    for (std::size_t i = 0; i < table.keys; ++i)
      exchange(rows, table.columns[i].kind, (*behind)[i],
               [](auto& value, auto&) { return soci::use(value); });
  }
  for (std::size_t i = 0; i < row.size(); ++i)
    exchange(rows, table.columns[i].kind, row[i],
             [](auto& value, auto& state) { return soci::into(value, state); });
  rows.alloc();
  rows.prepare(fmt::format("SELECT {} FROM {} {}ORDER BY {} LIMIT {}", names(table, row.size()),
                           table.name, where, order, most));
  rows.define_and_bind();
  rows.execute();
  std::vector<Cells> found;
  while (rows.fetch()) found.push_back(row);
  return found;
}

/// The next ones in the order of their keys; `behind`: the last of those before, or nothing.
std::vector<Cells> next_rows(soci::session& sql, const Table& table, Cells* behind) {
  return read_rows(sql, table, behind, names(table, table.keys), table.at_once);
}

std::optional<Cells> last_row(soci::session& sql, const Table& table) {
  auto rows = read_rows(sql, table, nullptr, names(table, table.keys, " DESC"), 1);
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

bool same(Column::Kind kind, const Cell& one, const Cell& other) {
  if (one.state == soci::i_null || other.state == soci::i_null) return one.state == other.state;
  if (kind == kInteger) return one.number == other.number;
  return kind == kReal ? one.real == other.real : one.text == other.text;
}

bool same(const Table& table, const Cells& one, const Cells& other) {
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!same(table.columns[i].kind, one[i], other[i])) return false;
  return true;
}

/// As PostgreSQL keeps it.
Result<void> make_fit(const Table& table, Cells& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto kind = table.columns[i].kind;
    auto& value = row[i].text;
    if (kind == kInteger || kind == kReal || row[i].state == soci::i_null) continue;
    if (value.find('\0') == value.npos && valid_utf8(value) == value) continue;
    if (kind == kText)
      return Error{Code::kInvalid,
                   fmt::format("{}: its {} has a NUL or bytes that are no UTF-8, which PostgreSQL "
                               "does not keep: nothing can stand for it; see it with sqlite3, and "
                               "mend it or remove its run (cupel store prune)",
                               key_in_words(table, row), table.columns[i].name)};
    value = packed_text(std::move(value));
  }
  return ok();
}

Result<void> make_fit(const Table& table, std::vector<Cells>& rows) {
  for (auto& row : rows) {
    TRY(make_fit(table, row));
  }
  return ok();
}

std::string element(Column::Kind kind, const Cell& cell) {
  if (cell.state == soci::i_null) return "NULL";
  if (kind == kInteger) return std::to_string(cell.number);
  if (kind == kReal) return fmt::format("{}", cell.real);
  return array_element(cell.text);
}

std::string array_of(const Table& table, std::size_t column, const std::vector<Cells>& rows) {
  std::string all{"{"};
  for (const auto& row : rows) {
    if (all.size() > 1) all += ',';
    all += element(table.columns[column].kind, row[column]);
  }
  return all + "}";
}

std::string_view type_of(Column::Kind kind) {
  if (kind == kInteger) return "BIGINT";
  return kind == kReal ? "DOUBLE PRECISION" : "TEXT";
}

void insert_as_arrays(soci::session& sql, const Table& table, const std::vector<Cells>& rows) {
  std::vector<std::string> arrays, casts;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    arrays.push_back(array_of(table, i, rows));
    casts.push_back(fmt::format("CAST(:c{} AS {}[])", i, type_of(table.columns[i].kind)));
  }
  soci::statement insert{sql};
  for (const auto& array : arrays) insert.exchange(soci::use(array));
  insert.alloc();
  insert.prepare(fmt::format("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest({})",
                             table.name, names(table, table.columns.size()),
                             fmt::join(casts, ", ")));
  insert.define_and_bind();
  insert.execute(true);
}

void insert_one_by_one(soci::session& sql, const Table& table, const std::vector<Cells>& rows) {
  soci::statement insert{sql};
  Cells row(table.columns.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    exchange(insert, table.columns[i].kind, row[i],
             [](auto& value, auto& state) { return soci::use(value, state); });
  insert.alloc();
  insert.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name,
                             names(table, row.size()), marks(row.size())));
  insert.define_and_bind();
  for (const auto& each : rows) {
    std::ranges::copy(each, row.begin());  // in place: the statement knows where they are
    insert.execute(true);
  }
}

void insert_rows(soci::session& sql, const Table& table, const std::vector<Cells>& rows) {
  Writing writing{sql};
  if (takes_arrays(sql))
    insert_as_arrays(sql, table, rows);
  else
    insert_one_by_one(sql, table, rows);
  writing.commit();
}

/// The next row gets a number behind the last. SQLite does that by itself.
void move_counter(soci::session& sql, const Table& table) {
  if (!is_postgresql(sql) || table.keys != 1 || table.columns[0].kind != kInteger) return;
  const auto key = table.columns[0].name;
  sql << fmt::format(
      "SELECT setval(pg_get_serial_sequence('{0}', '{1}'), MAX({1})) FROM {0} HAVING MAX({1}) IS "
      "NOT NULL",
      table.name, key);
}

/// Counts on over all tables.
class Count {
 public:
  Count(soci::session& sql, const CopyWatcher& watch) : watch_{watch}, of_{rows_of_tables(sql)} {}
  void add(std::string_view what, std::size_t rows) {
    done_ += static_cast<std::int64_t>(rows);
    if (watch_) watch_({what, done_, of_});
  }

 private:
  const CopyWatcher& watch_;
  std::int64_t done_ = 0, of_;
};

Result<void> copy_table(soci::session& from, soci::session& to, const Table& table, Count& count) {
  auto last = last_row(to, table);
  if (last) count.add(table.name, static_cast<std::size_t>(rows_of(to, table.name)));
  for (;;) {
    auto rows = next_rows(from, table, last ? &*last : nullptr);
    if (rows.empty()) break;
    last = rows.back();
    if (is_postgresql(to)) {
      TRY(make_fit(table, rows));
    }
    insert_rows(to, table, rows);
    count.add(table.name, rows.size());
  }
  move_counter(to, table);
  return ok();
}

Error not_the_same(const std::string& where) {
  return Error{Code::kMalformed,
               where +
                   " is not the same in the copy: the copy is not used, and what was copied "
                   "stays as it was"};
}

Result<void> compare_table(soci::session& from, soci::session& to, const Table& table,
                           Count& count) {
  const auto what = fmt::format("compared {}", table.name);
  std::optional<Cells> last;
  for (;;) {
    auto rows = next_rows(from, table, last ? &*last : nullptr);
    auto copied = next_rows(to, table, last ? &*last : nullptr);
    const auto end = rows.empty() ? std::optional<Cells>{} : std::optional{rows.back()};
    if (is_postgresql(to)) {
      TRY(make_fit(table, rows));
    }
    for (std::size_t i = 0; i < std::max(rows.size(), copied.size()); ++i)
      if (i >= rows.size() || i >= copied.size() || !same(table, rows[i], copied[i]))
        return not_the_same(key_in_words(table, i < rows.size() ? rows[i] : copied[i]));
    if (!end) return ok();
    last = end;
    count.add(what, rows.size());
  }
}

}  // namespace

std::int64_t rows_of(soci::session& sql, std::string_view table) {
  std::int64_t rows = 0;
  sql << fmt::format("SELECT COUNT(*) FROM {}", table), soci::into(rows);
  return rows;
}

std::int64_t rows_of_tables(soci::session& sql) {
  std::int64_t rows = 0;
  for (const auto& table : tables()) rows += rows_of(sql, table.name);
  return rows;
}

Result<void> copy_tables(soci::session& from, soci::session& to, const CopyWatcher& watch) {
  Count count{from, watch};
  for (const auto& table : tables()) {
    TRY(copy_table(from, to, table, count));
  }
  return ok();
}

Result<void> compare_tables(soci::session& from, soci::session& to, const CopyWatcher& watch) {
  Count count{from, watch};
  for (const auto& table : tables()) {
    TRY(compare_table(from, to, table, count));
  }
  return ok();
}

void clear_tables(soci::session& sql) {
  Writing writing{sql};
  for (const auto& table : tables())
    if (has_table(sql, std::string{table.name})) sql << fmt::format("DELETE FROM {}", table.name);
  if (is_postgresql(sql)) sql << "DELETE FROM evidence";
  writing.commit();
}

}  // namespace cupel::store
