#include "inventory/csaf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "base/utc.h"
#include "inventory/version_words.h"
#include "inventory/versions.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostProducts = 50'000, kMostVulnerabilities = 10'000, kLongest = 256,
                      kMostNamed = 1'000'000, kMostCompared = 4'000'000;

/// Short, and without what moves a terminal's cursor.
std::string clean(std::string_view text) {
  return shortened(printable(valid_utf8(trimmed(text))), kLongest);
}

std::string text_of(const json::value& root, std::string_view path) {
  return clean(text_at(root, path).value_or(""));
}

const json::array& list_at(const json::value& root, std::string_view path) {
  static const json::array none;
  const auto* found = find(root, path);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

struct Product {
  std::string path{};
  VersionBounds versions{};
};

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() || name.empty() ? path + name : path + " " + name;
}

/// product_tree (3.2.2): by product_id.
class Products {
 public:
  explicit Products(const json::value& tree) {
    add_branches(list_at(tree, "branches"), "");
    for (const auto& each : list_at(tree, "full_product_names")) add_named(each, {});
    for (const auto& each : list_at(tree, "relationships")) add_relationship(each);
  }

  const Product* of(const std::string& id) const {
    const auto found = products_.find(id);
    return found == products_.end() ? nullptr : &found->second;
  }
  std::size_t count() const { return products_.size(); }

 private:
  /// As deep as the JSON may be.
  void add_branches(const json::array& branches, const std::string& path) {
    for (const auto& branch : branches) {
      const auto category = text_of(branch, "category"), name = text_of(branch, "name");
      const bool is_range = category == "product_version_range";
      auto versions =
          is_range || category == "product_version" ? version_bounds(name) : VersionBounds{};
      // Some write the product where the version belongs.
      const bool is_path = category != "vendor" && !is_range && versions.empty();
      const auto below = is_path ? joined(path, name) : path;
      add_branches(list_at(branch, "branches"), below);
      if (const auto* product = find(branch, "product")) {
        if (versions.empty()) versions = version_bounds(text_of(*product, "name"));
        add(text_of(*product, "product_id"), {shortened(below, kLongest), std::move(versions)});
      }
    }
  }

  void add_named(const json::value& product, VersionBounds versions) {
    const auto name = text_of(product, "name");
    if (versions.empty()) versions = version_bounds(name);
    add(text_of(product, "product_id"), {name_without_version(name), std::move(versions)});
  }

  /// "runc 1.1.12 as a component of a distribution": the version is the component's.
  void add_relationship(const json::value& relationship) {
    const auto* product = find(relationship, "full_product_name");
    const auto* component = of(text_of(relationship, "product_reference"));
    if (product == nullptr) return;
    if (component == nullptr) return add_named(*product, {});
    const auto* host = of(text_of(relationship, "relates_to_product_reference"));
    const auto path = joined(component->path, host == nullptr ? "" : host->path);
    add(text_of(*product, "product_id"), {shortened(path, kLongest), component->versions});
  }

  void add(const std::string& id, Product product) {
    if (!id.empty() && products_.size() <= kMostProducts)
      products_.try_emplace(id, std::move(product));
  }

  std::map<std::string, Product, std::less<>> products_{};
};

/// By product and branch.
struct Branch {
  std::set<std::string, std::less<>> fixed{};
  std::set<std::string, std::less<>> affected{};  // these versions, each with all before it
  std::set<std::pair<std::string, std::string>> ranges{};  // affected: from the first up to before
                                                           // the second
  std::size_t compared() const { return fixed.size() * (affected.size() + ranges.size()); }
};

/// "1.2" of 1.2.9.
std::string_view two_numbers(std::string_view version) {
  const auto first = version.find('.');
  return first == version.npos ? version : version.substr(0, version.find('.', first + 1));
}

/// Whether the fix of one vulnerability is affected by another. A version without a lower bound
/// says nothing of maintained branches before its own.
bool is_affected(const std::string& version, const Branch& branch) {
  return std::ranges::any_of(branch.affected,
                             [&](const std::string& each) {
                               return two_numbers(each) == two_numbers(version) &&
                                      !(compare_versions(version, each) > 0);
                             }) ||
         std::ranges::any_of(branch.ranges, [&](const auto& range) {
           return compare_versions(version, range.first) >= 0 &&
                  compare_versions(version, range.second) < 0;
         });
}

bool has_later(const std::set<std::string, std::less<>>& versions, const std::string& than) {
  return std::ranges::any_of(
      versions, [&](const std::string& each) { return compare_versions(each, than) > 0; });
}

std::string latest_of(const std::set<std::string, std::less<>>& versions) {
  std::string latest;
  for (const auto& each : versions)
    if (latest.empty() || compare_versions(each, latest) > 0) latest = each;
  return latest;
}

class Versions {
 public:
  explicit Versions(const Products& products) : products_{products} {}

  void add(const json::value& vulnerability) {
    const auto& status = *non_null(find(vulnerability, "product_status"));
    for (const auto* key : {"fixed", "first_fixed", "recommended"})
      each_of(list_at(status, key), [&](const Product& product) { add_fixed(product); });
    for (const auto* key : {"known_affected", "first_affected", "last_affected"})
      each_of(list_at(status, key), [&](const Product& product) { add_affected(product); });
    for (const auto& remedy : list_at(vulnerability, "remediations")) add_remedy(remedy);
  }

  void write(Advisory& advisory) const {
    for (const auto& [key, branch] : branches_) {
      const auto last = latest_of(branch.affected);
      if (last.empty() || has_later(branch.fixed, last)) {
        for (const auto& each : branch.fixed)
          if (!is_affected(each, branch)) advisory.fixed.push_back({key.first, each});
      } else {
        advisory.without_fix.push_back(joined(key.first, last));
        advisory.affected.push_back({key.first, last});
      }
    }
  }

  /// Why there are too many of them; empty: there are not.
  std::string excess() const {
    if (named_ > kMostNamed) return fmt::format("its lists name more than {} versions", kMostNamed);
    std::size_t compared = 0;
    for (const auto& [key, branch] : branches_) compared += branch.compared();
    return compared > kMostCompared
               ? fmt::format("its fixed and affected versions make {} pairs: at most {}", compared,
                             kMostCompared)
               : std::string{};
  }

 private:
  static const json::value* non_null(const json::value* value) {
    static const json::value none;
    return value == nullptr ? &none : value;
  }

  /// Each product once, as often as the list may name it.
  template <class Act>
  void each_of(const json::array& ids, Act act) {
    std::set<const Product*> products;
    for (const auto& id : ids)
      if (id.is_string())
        if (const auto* product = products_.of(clean(id.get_string()))) products.insert(product);
    for (const auto* product : products) {
      named_ += product->versions.size() + 1;
      if (named_ > kMostNamed) return;
      act(*product);
    }
  }

  Branch& branch_of(const Product& product, const std::string& version) {
    return branches_[{product.path, std::string{first_number(version)}}];
  }

  void raise(const Product& product, const std::string& version) {
    branch_of(product, version).fixed.insert(version);
  }

  void add_fixed(const Product& product) {
    for (const auto& each : product.versions)
      if (each.kind == VersionBound::exact || each.kind == VersionBound::from)
        raise(product, each.version);
  }

  void add_affected(const Product& product) {
    std::string from;
    for (const auto& each : product.versions) {
      if (each.kind == VersionBound::from) {
        from = each.version;
      } else if (each.kind == VersionBound::below) {
        raise(product, each.version);
        if (!from.empty()) branch_of(product, each.version).ranges.emplace(from, each.version);
      } else {
        branch_of(product, each.version).affected.insert(each.version);
      }
    }
  }

  /// "Update to V2.9.2 or later version" (3.2.3.12, vendor_fix).
  void add_remedy(const json::value& remedy) {
    if (text_of(remedy, "category") != "vendor_fix") return;
    const auto version = version_to_update_to(text_of(remedy, "details"));
    if (version.empty()) return;
    each_of(list_at(remedy, "product_ids"),
            [&](const Product& product) { raise(product, version); });
  }

  const Products& products_;
  std::map<std::pair<std::string, std::string>, Branch> branches_{};
  std::size_t named_ = 0;
};

/// All that is wrong with the document as a whole.
std::vector<std::string> faults_of(const json::value& root) {
  std::vector<std::string> faults;
  if (text_of(root, "document/csaf_version") != "2.0")
    faults.emplace_back("document/csaf_version is not 2.0");
  for (const auto* key : {"document/tracking/id", "document/publisher/name"})
    if (text_of(root, key).empty()) faults.push_back(fmt::format("{} is missing", key));
  const auto date = text_of(root, "document/tracking/current_release_date");
  if (!utc_of(date.substr(0, 10)))
    faults.emplace_back("document/tracking/current_release_date is no date");
  if (text_of(root, "document/tracking/status") == "draft")
    faults.emplace_back("it is a draft, which its publisher has not released");
  const auto count = list_at(root, "vulnerabilities").size();
  if (count == 0) faults.emplace_back("it has no vulnerabilities");
  if (count > kMostVulnerabilities)
    faults.push_back(
        fmt::format("it has {} vulnerabilities: at most {}", count, kMostVulnerabilities));
  return faults;
}

/// What the names of products say. The first that fits.
struct ProductWords {
  std::string_view component;
  std::vector<std::string_view> all, none;
  std::vector<std::string> models{};
};

const std::vector<ProductWords>& product_words() {
  static const std::vector<ProductWords> rows{
      {"driver", {"linux(r", "tesla"}, {"vgpu"}},
      {"connectx", {"connectx-4 lx"}, {}, {"MT4117"}},
      {"connectx", {"(28)", "connectx-4"}, {}, {"MT4115"}},
      {"connectx", {"connectx"}, {}},
      {"connectx", {"bluefield"}, {"dpu os", "virtio"}},
      {"container-toolkit", {"nvidia container toolkit"}, {}},
      {"cuda", {"cuda toolkit"}, {}},
      {"dcgm", {"dcgm"}, {"exporter"}},
      {"runc", {"runc"}, {}},
      {"docker", {"docker engine"}, {}}};
  return rows;
}

const ProductWords* words_of(const std::string& product) {
  const auto name = lower_case(product);
  const auto stands = [&](std::string_view word) { return name.contains(word); };
  for (const auto& row : product_words())
    if (std::ranges::all_of(row.all, stands) && std::ranges::none_of(row.none, stands)) return &row;
  return nullptr;
}

using BranchKey = std::tuple<std::string, std::string, std::vector<std::string>>;

BranchKey key_of(const FloorRow& row) { return {row.component, row.branch, row.models}; }

/// The row as the floor parts branches: "1.2" of 1.2.9 where it has that.
FloorRow in_its_branch(FloorRow row, const SecurityFloor& floor) {
  for (const auto& known : floor.rows) {
    const bool alike = known.component == row.component && known.models == row.models;
    if (alike && known.branch.size() > row.branch.size() &&
        row.at_least.starts_with(known.branch + "."))
      row.branch = known.branch;
  }
  return row;
}

/// Nothing where the product is not meant, or is of no component that Cupel knows.
std::optional<FloorRow> row_of(const FixedVersion& fixed, const Advisory& advisory,
                               const FloorChoice& choice) {
  const bool meant = choice.product.empty() || fits_pattern(choice.product, fixed.product);
  const auto* words = choice.component.empty() ? words_of(fixed.product) : nullptr;
  if (!meant || (choice.component.empty() && words == nullptr)) return std::nullopt;
  FloorRow row{.component = words == nullptr ? choice.component : std::string{words->component},
               .branch = {},
               .at_least = {},
               .models = words == nullptr || !choice.models.empty() ? choice.models : words->models,
               .advisory = shortened(advisory.publisher + " " + advisory.id, kLongest),
               .date = advisory.date,
               .source = advisory.title};
  row.at_least = without_chip(row.component, fixed.version);
  row.branch = first_number(row.at_least);
  if (row.component == "connectx" && !is_connectx_train(row.at_least)) return std::nullopt;
  return row;
}

std::string name_of(const FloorRow& row) { return fmt::format("{} {}", row.component, row.branch); }

/// Whether a row of the same parts takes over what is before its version.
bool has_later_row(const SecurityFloor& floor, const FloorRow& row) {
  return std::ranges::any_of(floor.rows, [&](const FloorRow& other) {
    return other.component == row.component && other.models == row.models &&
           compare_versions(other.at_least, row.at_least) > 0;
  });
}

using Places = std::map<BranchKey, std::size_t>;

/// The latest of each branch, in their order.
std::vector<FloorRow> latest_rows(const std::vector<FloorRow>& rows, const SecurityFloor& floor,
                                  std::vector<std::string>& left_out) {
  std::vector<FloorRow> latest;
  Places places;
  for (const auto& each : rows) {
    auto row = in_its_branch(each, floor);
    const auto [at, fresh] = places.try_emplace(key_of(row), latest.size());
    if (fresh) {
      latest.push_back(std::move(row));
      continue;
    }
    auto& known = latest[at->second];
    if (row.at_least == known.at_least) continue;
    if (compare_versions(row.at_least, known.at_least) > 0) std::swap(row, known);
    left_out.push_back(fmt::format("{} {}", row.component, row.at_least));
  }
  return latest;
}

/// Of the rows that the floor had before: `before` of them.
void drop_unfixed(const std::vector<FloorRow>& unfixed, const Places& places, std::size_t before,
                  FloorMerge& merge) {
  auto& rows = merge.floor.rows;
  std::set<std::size_t, std::greater<>> gone;
  std::vector<std::string> earlier;  // also affected: nothing is lost
  for (const auto& each : latest_rows(unfixed, merge.floor, earlier)) {
    const auto at = places.find(key_of(each));
    if (at == places.end() || at->second >= before) continue;
    const auto& known = rows[at->second];
    if (!(compare_versions(known.at_least, each.at_least) <= 0)) continue;
    const bool goes = has_later_row(merge.floor, known);
    merge.changes.push_back(fmt::format("{}: {} is affected and has no fix: {}", name_of(each),
                                        each.at_least,
                                        goes ? "the row goes, and the next later one counts"
                                             : "the row stays, since there is no later one"));
    if (goes) gone.insert(at->second);
  }
  for (const auto index : gone) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

Result<Advisory> parse_csaf(std::string_view text) {
  TRY(const auto root, parse_json(text));
  auto faults = faults_of(root);
  static const json::value none;
  const auto* tree = find(root, "product_tree");
  const Products products{tree == nullptr ? none : *tree};
  if (products.count() > kMostProducts)
    faults.push_back(fmt::format("it has more than {} products", kMostProducts));
  if (!faults.empty())
    return Error{Code::kInvalid,
                 fmt::format("no CSAF 2.0 advisory to take in: {}", fmt::join(faults, "; "))};
  Advisory advisory{.id = text_of(root, "document/tracking/id"),
                    .date = text_of(root, "document/tracking/current_release_date").substr(0, 10),
                    .publisher = text_of(root, "document/publisher/name"),
                    .title = text_of(root, "document/title")};
  Versions versions{products};
  for (const auto& each : list_at(root, "vulnerabilities")) versions.add(each);
  if (const auto excess = versions.excess(); !excess.empty())
    return Error{Code::kInvalid, fmt::format("no CSAF 2.0 advisory to take in: {}", excess)};
  versions.write(advisory);
  return advisory;
}

FloorImport floor_rows(const Advisory& advisory, const FloorChoice& choice) {
  FloorImport import;
  for (const auto& each : advisory.fixed) {
    if (auto row = row_of(each, advisory, choice))
      import.rows.push_back(*std::move(row));
    else
      import.left_out.push_back(joined(each.product, each.version));
  }
  for (const auto& each : advisory.affected)
    if (auto row = row_of(each, advisory, choice)) import.unfixed.push_back(*std::move(row));
  return import;
}

FloorMerge merged(SecurityFloor floor, const FloorImport& import) {
  FloorMerge merge{.floor = std::move(floor)};
  auto& rows = merge.floor.rows;
  const auto before = rows.size();
  Places places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.try_emplace(key_of(rows[i]), i);
  for (auto& row : latest_rows(import.rows, merge.floor, merge.left_out)) {
    const auto [at, fresh] = places.try_emplace(key_of(row), rows.size());
    if (fresh) {
      merge.changes.push_back(fmt::format("{}: at least {}, new", name_of(row), row.at_least));
      rows.push_back(std::move(row));
      continue;
    }
    auto& known = rows[at->second];
    const auto order = compare_versions(row.at_least, known.at_least);
    if (order == std::partial_ordering::unordered) {
      merge.left_out.push_back(fmt::format("{} {}", row.component, row.at_least));
      continue;
    }
    auto change =
        order > 0 ? fmt::format("at least {}, was {}", row.at_least, known.at_least)
                  : fmt::format("stays at {}, the advisory has {}", known.at_least, row.at_least);
    merge.changes.push_back(fmt::format("{}: {}", name_of(row), change));
    if (order > 0) known = std::move(row);
  }
  drop_unfixed(import.unfixed, places, before, merge);
  std::ranges::stable_sort(rows, {}, &FloorRow::component);
  return merge;
}

}  // namespace cupel::inventory
