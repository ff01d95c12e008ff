#include "playbooks/read_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "playbooks/format.h"

namespace cupel::playbooks {
namespace {

using inventory::Place;
using inventory::Problem;
using inventory::YamlValue;

std::string text_at(const YamlValue& map, std::string_view key, std::string fallback = {}) {
  const auto* value = map.entry(key);
  return value != nullptr && value->kind == YamlValue::Kind::scalar ? value->text : fallback;
}

Parameter declared(const YamlValue& item) {
  Parameter parameter;
  parameter.name = item.key;
  parameter.description = text_at(item, "description");
  parameter.type = text_at(item, "type", "text");
  if (item.entry("default") != nullptr) parameter.fallback = text_at(item, "default");
  if (const auto* values = item.entry("values"))
    for (const auto& each : values->items) parameter.values.push_back(each.text);
  return parameter;
}

bool fits(const Parameter& parameter, const std::string& text, const Place& where,
          std::vector<Problem>& problems) {
  YamlValue value;
  value.kind = YamlValue::Kind::scalar;
  value.text = text;
  value.line = where.line;
  value.column = where.column;
  if (!conforms(value, shape_of_type(parameter.type), parameter.name, where.file, problems))
    return false;
  if (parameter.values.empty()) return true;
  std::vector<std::string_view> words{parameter.values.begin(), parameter.values.end()};
  return conforms(value, word_of(std::move(words)), parameter.name, where.file, problems);
}

/// The value that counts. Where there is none, or a wrong one, that is reported once, here:
/// "${name}" stays as it is, and what it would have been put into is not looked at any more.
void settle(Parameter& parameter, const YamlValue& item, const std::string& file,
            const Givens& given, std::vector<Problem>& problems) {
  parameter.value = "${" + parameter.name + "}";
  if (parameter.fallback) {
    const auto& at = *item.entry("default");
    if (fits(parameter, *parameter.fallback, {file, at.line, at.column}, problems))
      parameter.value = *parameter.fallback;
  }
  const auto value = given.find(parameter.name);
  if (value != given.end()) {
    const bool good = fits(parameter, value->second.value, value->second.where, problems);
    parameter.value = good ? value->second.value : "${" + parameter.name + "}";
  } else if (!parameter.fallback) {
    problems.push_back(
        {{file, item.key_line, item.key_column},
         fmt::format("parameter '{0}' needs a value: --set {0}=VALUE, or with: where "
                     "it is included",
                     printable(parameter.name))});
  }
}

}  // namespace

std::vector<Parameter> read_parameters(const YamlValue& playbook, const std::string& file,
                                       const Givens& given, std::vector<Problem>& problems) {
  std::vector<Parameter> parameters;
  std::vector<std::string> known;
  const auto* table = playbook.entry("parameters");
  if (table != nullptr && table->kind == YamlValue::Kind::map)
    for (const auto& item : table->items) {
      if (item.kind != YamlValue::Kind::map) continue;
      auto parameter = declared(item);
      if (parameter.name == "each")
        problems.push_back({{file, item.key_line, item.key_column},
                            "'each' is the name of the item that foreach is at"});
      settle(parameter, item, file, given, problems);
      known.push_back(parameter.name);
      parameters.push_back(std::move(parameter));
    }
  for (const auto& [name, value] : given)
    if (std::ranges::find(known, name) == known.end())
      problems.push_back(
          {value.where,
           fmt::format("{} has no parameter '{}'{}", file, printable(name),
                       inventory::did_you_mean(name, std::span<const std::string>{known}))});
  return parameters;
}

std::string filled_in(std::string_view text, const Arguments& values,
                      std::set<std::string>* unknown) {
  std::string filled;
  while (filled.size() <= kLongestValue) {
    const auto open = text.find("${");
    const auto close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) return filled.append(text);
    filled.append(text.substr(0, open));
    const auto name = text.substr(open + 2, close - open - 2);
    const auto value = values.find(name);
    if (value != values.end())
      filled += value->second;
    else
      filled.append(text.substr(open, close + 1 - open));
    if (value == values.end() && unknown != nullptr) unknown->emplace(name);
    text.remove_prefix(close + 1);
  }
  return filled;
}

void Filler::fill(YamlValue& value, const Shape& shape, const Arguments& values,
                  const std::string& file, std::set<std::string>& used) {
  fill_map(value, shape, {values, file, used});
}

void Filler::fill_map(YamlValue& value, const Shape& shape, const Source& source) {
  if (value.kind != YamlValue::Kind::map) return;
  const bool goes_through = value.entry("foreach") != nullptr;
  for (auto& item : value.items) {
    const auto key = std::ranges::find(shape.keys, item.key, &Key::name);
    if (key == shape.keys.end() || !key->parameters) continue;
    if (!goes_through || item.key != "with") {
      fill_all(item, source);
      continue;
    }
    auto values = source.values;  // the name of each turn is put in when it is known
    values.emplace("each", "${each}");
    fill_all(item, {values, source.file, source.used});
  }
}

void Filler::fill_all(YamlValue& value, const Source& source) {
  if (value.kind == YamlValue::Kind::scalar && value.text.contains("${")) fill_text(value, source);
  for (auto& item : value.items) fill_all(item, source);
}

void Filler::fill_text(YamlValue& value, const Source& source) {
  const Place where{source.file, value.line, value.column};
  std::set<std::string> unknown;
  auto filled = filled_in(value.text, source.values, &unknown);
  std::vector<std::string> known;
  for (const auto& [name, text] : source.values) {
    known.push_back(name);
    if (value.text.contains("${" + name + "}")) source.used.insert(name);
  }
  for (const auto& name : unknown)
    problems_.push_back(
        {where, fmt::format("there is no parameter '{}'{}", shortened(printable(name), 80),
                            inventory::did_you_mean(name, std::span<const std::string>{known}))});
  const auto last = value.text.rfind("${");
  if (value.text.find('}', last) == std::string::npos)
    problems_.push_back({where, "'${' without '}'"});
  made_ += filled.size();
  if (filled.size() > kLongestValue || made_ > kLongestValues) {
    problems_.push_back({where, "with its parameters' values it is too long"});
    filled.clear();
  }
  value.text = std::move(filled);
}

}  // namespace cupel::playbooks
