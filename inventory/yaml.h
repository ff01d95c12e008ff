#pragma once
// YAML as a plain tree with the place of every word. yaml-cpp stays behind this header; what a file
// means is its reader's business (load.h, load_profile.h, playbooks/playbook.h).
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

struct YamlValue {
  enum class Kind { null, scalar, list, map } kind = Kind::null;
  std::string text{};   // of a scalar
  bool quoted = false;  // it was, so that "1" is a text where 1 is a number
  int line = 0;         // counted from 1
  int column = 0;
  std::string key{};  // where it is a map's value: its key, and the place of that
  int key_line = 0;
  int key_column = 0;
  std::vector<YamlValue> items{};  // of a list; of a map in the file's order, each key once

  /// The value under `key`; nullptr where absent, or where this is no map.
  const YamlValue* entry(std::string_view requested) const;
};

struct YamlDocument {
  std::string file;
  YamlValue root;
};

/// Reads one document. Bounded: 64 levels, two million values (aliases counted as what they stand
/// for). On an error: a problem with its place, and nothing.
std::optional<YamlDocument> parse_yaml(std::string_view text, std::string file,
                                       std::vector<Problem>& problems);

/// The keys of one map, asked for one by one; what was never asked for is a typing error. Every
/// fault becomes a problem with its place, and reading goes on.
class YamlFields {
 public:
  /// `what` names the map in messages: "node", "bmc". A value that is no map is a problem.
  YamlFields(const YamlValue& value, std::string what, const std::string& file,
             std::vector<Problem>& problems);

  bool has(std::string_view key);
  /// The value as it stands, nullptr where absent or null.
  const YamlValue* value(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<double> number(std::string_view key);
  std::optional<long> integer(std::string_view key, long least, long most);
  std::optional<bool> flag(std::string_view key);
  /// "90s", "15m", "72h", "7d", "1h30m".
  std::optional<std::chrono::seconds> duration(std::string_view key);
  /// "64GiB", "3.84TB", "512MiB": bytes.
  std::optional<double> size(std::string_view key);
  /// A list of texts; a single text counts as a list of one.
  std::vector<std::string> texts(std::string_view key);
  /// The list's items; empty where absent.
  std::span<const YamlValue> list(std::string_view key);
  /// As text(), and a problem where it is absent.
  std::string required(std::string_view key);

  /// Reports every key that was not asked for, with the nearest of those that were.
  void finish();

  /// Place of the key's value, or of the map where it is absent.
  Place place(std::string_view key) const;
  Place place() const { return {file_, value_.line, value_.column}; }
  void report(Place where, std::string what) { problems_.push_back({where, std::move(what)}); }

 private:
  const YamlValue& value_;
  std::string what_;
  const std::string& file_;
  std::vector<Problem>& problems_;
  std::vector<std::string_view> asked_;
};

/// "90s", "15m", "72h", "7d", "1h30m"; nothing for anything else. At most ten years.
std::optional<std::chrono::seconds> duration_of(std::string_view text);

/// "64GiB", "3.84TB", "1024": bytes; decimal and binary units as IEC 80000-13 has them.
std::optional<double> size_of(std::string_view text);

/// " (did you mean 'password'?)", or nothing.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known);
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace cupel::inventory
