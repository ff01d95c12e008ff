#include "orchestrator/cli/command_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cupel::cli {
namespace {

/// The part of "-i,--inventory" that begins with `dashes`, and no further one, without them.
std::string_view name_behind(std::string_view names, std::string_view dashes) {
  while (!names.empty()) {
    const auto end = std::min(names.find(','), names.size());
    const auto name = names.substr(0, end);
    const auto bare = name.substr(std::min(dashes.size(), name.size()));
    if (name.starts_with(dashes) && !bare.starts_with('-')) return bare;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return {};
}

struct TypeName {
  std::string_view operator()(const bool*) const { return ""; }
  std::string_view operator()(const std::function<void()>&) const { return ""; }
  std::string_view operator()(const std::function<void(const std::string&)>&) const {
    return "TEXT";
  }
  std::string_view operator()(const std::string*) const { return "TEXT"; }
  std::string_view operator()(const std::filesystem::path*) const { return "TEXT"; }
  template <class Value>
  std::string_view operator()(const std::vector<Value>* values) const {
    return values == nullptr ? "" : (*this)(static_cast<const Value*>(nullptr));
  }
  template <class Value>
  std::string_view operator()(const std::optional<Value>*) const {
    return (*this)(static_cast<const Value*>(nullptr));
  }
  std::string_view operator()(const double*) const { return "FLOAT"; }
  template <std::integral Number>
  std::string_view operator()(const Number*) const {
    return std::is_signed_v<Number> ? "INT" : "UINT";
  }
};

}  // namespace

bool is_argument(const OptionRow& row) { return !row.names.starts_with('-'); }

bool takes_value(const OptionRow& row) {
  return !std::holds_alternative<bool*>(row.place) &&
         !std::holds_alternative<std::function<void()>>(row.place);
}

std::string_view short_name(const OptionRow& row) { return name_behind(row.names, "-"); }
std::string_view long_name(const OptionRow& row) { return name_behind(row.names, "--"); }

std::string placeholder_of(const OptionRow& row) {
  const auto& rules = row.rules;
  std::string text{rules.placeholder};
  if (text.empty()) text = std::visit(TypeName{}, row.place);
  if (!rules.among.empty()) text += fmt::format(":{{{}}}", fmt::join(rules.among, ","));
  if (rules.range)
    text += fmt::format(":{} in [{} - {}]",
                        std::holds_alternative<std::optional<double>*>(row.place) ? "FLOAT" : "INT",
                        rules.range->least, rules.range->most);
  if (rules.existing != Existing::not_needed)
    text += rules.existing == Existing::file ? ":FILE" : ":DIR";
  return text;
}

std::vector<OptionRow> all_options(const CommandRow& command) {
  std::vector<OptionRow> all{
      {"-h,--help", static_cast<bool*>(nullptr), "Print this help message and exit"}};
  if (!command.version.empty())
    all.push_back(
        {"--version", static_cast<bool*>(nullptr), "Display program version information and exit"});
  all.insert(all.end(), command.options.begin(), command.options.end());
  return all;
}

}  // namespace cupel::cli
