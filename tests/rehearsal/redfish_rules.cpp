#include "tests/rehearsal/redfish_rules.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace cupel::rehearsal {
namespace {

/// "1.11" or "1_11_0", to be compared.
struct Version {
  int major = 0, minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

Version version_of(std::string_view text, char separator) {
  const auto parts = split(text, separator);
  const auto at = [&](std::size_t index) {
    return index < parts.size() ? number<int>(parts[index]).value_or(0) : 0;
  };
  return {at(0), at(1)};
}

struct Fact {
  std::string kind;
  bool list = false, required = false, not_null = false;
  Version since{};
};

struct Facts {
  std::map<std::string, std::map<std::string, Fact>> types;
  std::map<std::string, std::vector<std::string>> versions, methods;
};

std::vector<std::string> strings(std::string_view text, char separator) {
  std::vector<std::string> all;
  for (const auto part : split(text, separator)) all.emplace_back(part);
  return all;
}

void read_line(Facts& facts, std::string_view line) {
  if (line.empty() || line.starts_with('#')) return;
  const auto cells = split(line, '\t');
  if (cells.size() < 4) return;
  const std::string type{cells[0]}, property{cells[1]};
  if (property.empty()) {
    auto& into = cells[2] == "versions" ? facts.versions : facts.methods;
    into[type] = strings(cells[3], '|');
    return;
  }
  Fact fact{.kind = std::string{cells[2]}};
  if (fact.kind.ends_with("[]")) {
    fact.list = true;
    fact.kind.resize(fact.kind.size() - 2);
  }
  for (const auto word : split(cells[3], ',')) {
    if (word == "required") fact.required = true;
    if (word == "notnull") fact.not_null = true;
    if (word.starts_with("since=")) fact.since = version_of(word.substr(6), '.');
  }
  facts.types[type][property] = std::move(fact);
}

const Facts& facts() {
  static const auto all = [] {
    Facts read;
    const auto text = read_file(SOURCE_DIR "/tests/rehearsal/redfish_properties.tsv", 1u << 20);
    if (text)
      for (const auto line : lines(*text)) read_line(read, line);
    return read;
  }();
  return all;
}

/// "#Memory.v1_11_0.Memory": what the table calls Memory.Memory, in 1.11.
struct Type {
  std::string name, full_version;
  std::optional<Version> version;
};

Type type_of(std::string_view reported) {
  if (reported.starts_with('#')) reported.remove_prefix(1);
  const auto parts = split(reported, '.');
  if (parts.size() < 2) return {std::string{reported}, {}, {}};
  Type type{fmt::format("{}.{}", parts.front(), parts.back()), {}, {}};
  if (parts.size() == 3 && parts[1].starts_with('v')) {
    type.full_version = parts[1].substr(1);
    type.version = version_of(type.full_version, '_');
  }
  return type;
}

class Check {
 public:
  Check(std::string uri, std::vector<std::string>& complaints)
      : uri_{std::move(uri)}, complaints_{complaints} {}

  void resource(const json::object& whole) {
    const auto reported = text_at(json::value(whole), "@odata.type").value_or("");
    if (!reported.starts_with('#')) return print_error("", "no @odata.type");
    const auto type = type_of(reported);
    if (!facts().types.contains(type.name)) return print_error("", "no such type: " + reported);
    version_ = type.version;
    space_ = type.name.substr(0, type.name.find('.'));
    const auto known = facts().versions.find(type.name);
    const bool there = type.full_version.empty() ||
                       (known != facts().versions.end() &&
                        std::ranges::find(known->second, type.full_version) != known->second.end());
    if (!there) print_error("", "no such version in the table: " + reported);
    object(whole, type.name, "");
  }

 private:
  void print_error(const std::string& where, const std::string& what) {
    complaints_.push_back(fmt::format("{} {}: {}", uri_, where, what));
  }

  /// Only the schema of the resource itself has the version that the resource tells.
  bool is_there(const std::string& type, Version since) const {
    return !version_ || !type.starts_with(space_ + ".") || since <= *version_;
  }

  void object(const json::object& whole, const std::string& type, const std::string& where) {
    const auto known = facts().types.find(type);
    if (known == facts().types.end()) return print_error(where, "type " + type + " is not known");
    for (const auto& [name, fact] : known->second)
      if (fact.required && !whole.contains(name) && is_there(type, fact.since))
        print_error(where, "lacks " + name);
    for (const auto& entry : whole) {
      const std::string name{entry.key()};
      // Annotations are OData's, and what is the vendor's own is no business of DMTF's.
      if (name.contains('@') || name == "Oem" || name == "Actions") continue;
      const auto path = where.empty() ? name : where + "/" + name;
      auto fact = known->second.find(name);
      if (fact == known->second.end()) fact = known->second.find("*");
      if (fact == known->second.end())
        print_error(path, type + " has no such property, or the table lacks it");
      else if (!is_there(type, fact->second.since))
        print_error(path, "came later than the version that is told");
      else
        property(entry.value(), fact->second, type, path);
    }
  }

  void property(const json::value& value, const Fact& fact, const std::string& type,
                const std::string& path) {
    if (value.is_null()) {
      if (fact.not_null || fact.list) print_error(path, "must not be null");
      return;
    }
    if (!fact.list) return single(value, fact, type, path);
    const auto* list = value.if_array();
    if (!list) return print_error(path, "is no list");
    for (const auto& each : *list)
      if (!each.is_null()) single(each, fact, type, path);
  }

  void single(const json::value& value, const Fact& fact, const std::string& type,
              const std::string& path) {
    const auto& kind = fact.kind;
    if (kind == "any" || kind == "primitive") return;
    if (kind.starts_with("object:") || kind.starts_with("expanded:")) {
      const auto* part = value.if_object();
      if (!part) return print_error(path, "is no object");
      const auto reported = text_at(value, "@odata.type");
      const auto name = reported ? type_of(*reported).name : kind.substr(kind.find(':') + 1);
      return object(*part, name, path);
    }
    if (kind == "excerpt") {
      // Of a Sensor (DSP0266, "Excerpt"): what it reads now, and where the whole of it is.
      const auto* reading = find(value, "Reading");
      if (!reading || !(reading->is_null() || reading->is_number()))
        print_error(path, "is no excerpt of a sensor");
      return;
    }
    if (kind == "link") {
      // Members of a log are there whole.
      if (!text_at(value, "@odata.id")) return print_error(path, "is no link");
      if (text_at(value, "@odata.type")) Check{uri_, complaints_}.resource(value.as_object());
      return;
    }
    const bool good =
        (kind == "string" && value.is_string()) || (kind == "boolean" && value.is_bool()) ||
        (kind == "integer" && (value.is_int64() || value.is_uint64())) ||
        (kind == "number" && value.is_number()) || (kind.starts_with("enum:") && value.is_string());
    if (!good) return print_error(path, "is no " + kind.substr(0, kind.find(':')));
    if (kind.starts_with("enum:")) word(value.as_string(), kind.substr(5), type, path);
  }

  void word(std::string_view reported, std::string_view words, const std::string& type,
            const std::string& path) {
    for (const auto each : split(words, '|')) {
      const auto at = each.find('@');
      if (each.substr(0, at) != reported) continue;
      const bool later = at != each.npos && !is_there(type, version_of(each.substr(at + 1), '.'));
      if (later) print_error(path, fmt::format("'{}' came later than the version told", reported));
      return;
    }
    print_error(path, fmt::format("'{}' is none of its words", reported));
  }

  std::string uri_;
  std::vector<std::string>& complaints_;
  std::optional<Version> version_{};
  std::string space_{};
};

}  // namespace

std::vector<std::string> complaints_about(const std::string& uri, const json::value& resource) {
  std::vector<std::string> complaints;
  if (const auto* whole = resource.if_object())
    Check{uri, complaints}.resource(*whole);
  else
    complaints.push_back(uri + ": no object");
  return complaints;
}

std::vector<std::string> complaints_about_methods(const std::string& uri,
                                                  const json::value& resource,
                                                  std::string_view allow) {
  std::vector<std::string> complaints;
  const auto type = type_of(text_at(resource, "@odata.type").value_or(""));
  const auto may = facts().methods.find(type.name);
  bool reads = false;
  for (const auto part : split(allow, ',')) {
    const auto method = trimmed(part);
    reads |= method == "GET";
    const bool free = method == "GET" || method == "HEAD" || may == facts().methods.end();
    if (!free && std::ranges::find(may->second, method) == may->second.end())
      complaints.push_back(fmt::format("{}: {} may not take {}", uri, type.name, method));
  }
  if (!reads) complaints.push_back(fmt::format("{}: Allow '{}' lacks GET", uri, allow));
  return complaints;
}

}  // namespace cupel::rehearsal
