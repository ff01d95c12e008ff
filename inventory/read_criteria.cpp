#include "inventory/read_criteria.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "inventory/criterion.h"
#include "inventory/expected_parts.h"
#include "inventory/node_range.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostPartNames = 512;  // of one criterion
constexpr std::size_t kMostCriteria = 4096;
constexpr std::string_view kAll = "[all]";
constexpr std::string_view kCountOf = "count of ";

using Problems = std::vector<Problem>;

/// What stages call the parts of a kind, up to their number.
struct Stem {
  PartKind kind;
  std::string_view stem;
};
constexpr std::array kStems{Stem{PartKind::gpu, "gpu"}, Stem{PartKind::cpu, "cpu"},
                            Stem{PartKind::nvme, "nvme"}, Stem{PartKind::psu, "psu"},
                            Stem{PartKind::hca, "mlx5_"}};

std::string known_stems() {
  std::vector<std::string> all;
  for (const auto& each : kStems) all.push_back(fmt::format("{}{}", each.stem, kAll));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::vector<std::string> read_part_names(YamlFields& fields) {
  std::vector<std::string> names;
  for (const auto& range : fields.texts("parts")) {
    if (range.ends_with(kAll)) {  // how many that is, the whole profile says: count_parts()
      names.push_back(range);
      continue;
    }
    auto expanded = expand(range);
    if (!expanded) {
      fields.report(fields.place("parts"), expanded.error().what);
      continue;
    }
    if (names.size() + expanded->size() > kMostPartNames) {
      fields.report(fields.place("parts"), fmt::format("more than {} parts", kMostPartNames));
      break;
    }
    for (auto& name : *expanded) names.push_back(std::move(name));
  }
  if (names.empty()) names.emplace_back();
  return names;
}

/// A number, or "count of gpu": as many as the profile has of them.
void read_limit(YamlFields& fields, std::string_view key, std::optional<double>& limit,
                std::optional<PartKind>& count_of) {
  const auto* value = fields.value(key);
  const bool counted = value != nullptr && value->kind == YamlValue::Kind::scalar &&
                       value->text.starts_with(kCountOf);
  if (!counted) {
    limit = fields.number(key);
    return;
  }
  count_of = part_kind(std::string_view{value->text}.substr(kCountOf.size()));
  if (!count_of) fields.report(fields.place(key), "'" + value->text + "' counts no kind of part");
}

/// No value meets both limits; empty: some may.
std::string contradiction_in(const Criterion& criterion) {
  if (!criterion.at_least || !criterion.at_most || *criterion.at_least <= *criterion.at_most)
    return {};
  return fmt::format("criterion '{}' asks for at least {} and at most {}: no value is both",
                     criterion.measure, plain(*criterion.at_least, 6),
                     plain(*criterion.at_most, 6));
}

Criterion read_criterion(const YamlValue& value, const std::string& file, Problems& problems) {
  YamlFields fields{value, "criterion", file, problems};
  Criterion criterion;
  criterion.measure = fields.required("measure");
  criterion.parts = read_part_names(fields);
  read_limit(fields, "at_least", criterion.at_least, criterion.at_least_count);
  read_limit(fields, "at_most", criterion.at_most, criterion.at_most_count);
  criterion.unit = fields.text("unit").value_or("");
  criterion.remedy = fields.text("remedy").value_or("");
  criterion.source = fields.text("source").value_or("");
  criterion.where = {file, value.line, value.column};
  if (!fields.has("at_least") && !fields.has("at_most"))
    fields.report(fields.place(),
                  "criterion '" + criterion.measure + "' needs at_least or at_most");
  if (const auto fault = contradiction_in(criterion); !fault.empty())
    fields.report(fields.place("at_least"), fault);
  if (criterion.source.empty())
    fields.report(fields.place(), "criterion '" + criterion.measure +
                                      "' needs a source: where does the number come from?");
  fields.finish();
  return criterion;
}

/// "mlx5_" of mlx5_0, mlx5_* and mlx5_[all]; "*" and the node as a whole are kinds of their own.
std::string_view stem_of(const Criterion& criterion) {
  std::string_view part = criterion.parts.empty() ? std::string_view{} : criterion.parts.front();
  if (part == "*") return part;
  if (part.ends_with(kAll)) part.remove_suffix(kAll.size());
  const auto last = part.find_last_not_of("0123456789*");
  return part.substr(0, last == part.npos ? 0 : last + 1);
}

/// What is inherited of such parts is replaced whole: eight HCAs instead of twelve must not leave
/// four behind. The new one stands where the first of them stood: causes are reported in that
/// order.
void put_criterion(Criterion criterion, const std::string& file, Profile& profile) {
  const auto replaces = [&](const Criterion& before) {
    if (before.stage != criterion.stage || before.measure != criterion.measure) return false;
    if (before.parts == criterion.parts) return true;
    return before.where.file != file && stem_of(before) == stem_of(criterion);
  };
  auto& all = profile.criteria;
  const auto place = std::ranges::find_if(all, replaces);
  if (place == all.end()) {
    all.push_back(std::move(criterion));
    return;
  }
  all.erase(std::remove_if(std::next(place), all.end(), replaces), all.end());
  *place = std::move(criterion);
}

/// Criteria by where they stand: what several stages share with an anchor is read once, so that a
/// fault in it is reported once.
using CriteriaByPlace = std::map<std::pair<int, int>, Criterion>;

/// A list within the list is its items: "- &begun [...]" of one stage is "- *begun" of another.
void read_stage_criteria(const std::string& stage, const YamlValue& list, const std::string& file,
                         CriteriaByPlace& known, Profile& profile, Problems& problems) {
  for (const auto& item : list.items) {
    if (item.kind == YamlValue::Kind::list) {
      read_stage_criteria(stage, item, file, known, profile, problems);
      continue;
    }
    const auto [place, is_new] = known.try_emplace({item.line, item.column});
    if (is_new) place->second = read_criterion(item, file, problems);
    if (profile.criteria.size() >= kMostCriteria) {
      problems.push_back(
          {{file, item.line, item.column}, fmt::format("more than {} criteria", kMostCriteria)});
      return;
    }
    auto criterion = place->second;
    criterion.stage = stage;
    put_criterion(std::move(criterion), file, profile);
  }
}

/// "gpu[all]": names of all that the profile has. Nothing where it does not say how many.
std::optional<std::vector<std::string>> all_of(std::string_view text, const Profile& profile) {
  const auto stem = text.substr(0, text.size() - kAll.size());
  const auto row = std::ranges::find(kStems, stem, &Stem::stem);
  if (row == kStems.end()) return std::nullopt;
  const auto parts = std::ranges::find(profile.parts, row->kind, &ExpectedParts::kind);
  if (parts == profile.parts.end()) return std::nullopt;
  std::vector<std::string> names;
  for (int i = 0; i < std::min<int>(parts->count, kMostPartNames); ++i)
    names.push_back(fmt::format("{}{}", stem, i));
  return names;
}

std::optional<double> count_of(PartKind kind, const Profile& profile) {
  const auto parts = std::ranges::find(profile.parts, kind, &ExpectedParts::kind);
  if (parts == profile.parts.end()) return std::nullopt;
  return parts->count;
}

void count_limit(std::optional<PartKind>& kind, std::optional<double>& limit,
                 const Criterion& criterion, const Profile& profile, Problems& problems) {
  if (!kind) return;
  limit = count_of(*kind, profile);
  if (!limit)
    problems.push_back({criterion.where, fmt::format("criterion '{}' counts {}, and parts does not "
                                                     "say how many there are",
                                                     criterion.measure, to_string(*kind))});
  kind.reset();
}

/// Where "gpu[all]" stands among the names, the GPUs stand.
void count_names(Criterion& criterion, const Profile& profile, Problems& problems) {
  std::vector<std::string> names;
  for (auto& part : criterion.parts) {
    if (!part.ends_with(kAll)) {
      names.push_back(std::move(part));
      continue;
    }
    auto all = all_of(part, profile);
    if (!all)
      problems.push_back(
          {criterion.where, fmt::format("criterion '{}' is of {}, which is none of {}, or parts "
                                        "does not say how many there are",
                                        criterion.measure, part, known_stems())});
    else
      std::ranges::move(*all, std::back_inserter(names));
  }
  criterion.parts = std::move(names);
}

}  // namespace

void read_criteria(const YamlValue& value, const std::string& file, Profile& profile,
                   std::vector<Problem>& problems) {
  if (value.kind != YamlValue::Kind::map) {
    problems.push_back({{file, value.line, value.column}, "criteria must be a map of stages"});
    return;
  }
  CriteriaByPlace known;
  for (const auto& stage : value.items) {
    if (stage.kind != YamlValue::Kind::list) {
      problems.push_back({{file, stage.line, stage.column},
                          "the criteria of stage '" + stage.key + "' must be a list"});
      continue;
    }
    read_stage_criteria(stage.key, stage, file, known, profile, problems);
  }
}

void leave_out(const std::vector<std::string>& names, const Place& where, Profile& profile,
               std::vector<Problem>& problems) {
  const auto name_of = [](const Criterion& each) { return each.stage + "/" + each.measure; };
  for (const auto& name : names) {
    std::vector<std::string> known;
    for (const auto& each : profile.criteria) known.push_back(name_of(each));
    const auto gone =
        std::erase_if(profile.criteria, [&](const auto& each) { return name_of(each) == name; });
    if (gone == 0)
      problems.push_back({where, "it inherits no criterion '" + name + "'" +
                                     did_you_mean(name, std::span{known})});
  }
}

void count_parts(Profile& profile, std::vector<Problem>& problems) {
  for (auto& criterion : profile.criteria) {
    count_names(criterion, profile, problems);
    const bool counted = criterion.at_least_count || criterion.at_most_count;
    count_limit(criterion.at_least_count, criterion.at_least, criterion, profile, problems);
    count_limit(criterion.at_most_count, criterion.at_most, criterion, profile, problems);
    if (auto fault = contradiction_in(criterion); counted && !fault.empty())
      problems.push_back({criterion.where, std::move(fault)});
  }
  std::erase_if(profile.criteria, [](const Criterion& each) { return each.parts.empty(); });
}

}  // namespace cupel::inventory
