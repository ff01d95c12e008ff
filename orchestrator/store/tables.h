#pragma once
// The tables of a store with their columns, as data: for who reads or writes all of them. They are
// made by schema.cpp; a test holds the two against each other.
#include <cstddef>
#include <span>
#include <string_view>

namespace cupel::store {

struct Column {
  enum class Kind { integer, real, text, packed };
  std::string_view name;
  Kind kind = Kind::text;  // packed: of a text that has what PostgreSQL does not keep, see below
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;  // its key first
  std::size_t keys = 1;
  std::size_t at_once = 500;  // rows that are held in memory
};

/// Each table of the newest schema, but for its version.
std::span<const Table> tables();

}  // namespace cupel::store
