#include "inventory/csaf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "base/utc.h"
#include "inventory/version_words.h"
#include "inventory/versions.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kMostProducts = 50'000, kMostVulnerabilities = 10'000, kLongest = 256;

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
  std::string fixed{};                  // the latest of all vulnerabilities
  std::vector<std::string> affected{};  // these versions, each with all before it
};

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
      const auto is_affected = [&](const std::string& version) {
        return !(compare_versions(branch.fixed, version) > 0);
      };
      const bool has_fix =
          !branch.fixed.empty() && std::ranges::none_of(branch.affected, is_affected);
      if (has_fix)
        advisory.fixed.push_back({key.first, branch.fixed});
      else if (!branch.affected.empty())
        advisory.without_fix.push_back(joined(key.first, branch.affected.back()));
    }
  }

 private:
  static const json::value* non_null(const json::value* value) {
    static const json::value none;
    return value == nullptr ? &none : value;
  }

  template <class Act>
  void each_of(const json::array& ids, Act act) const {
    for (const auto& id : ids)
      if (id.is_string())
        if (const auto* product = products_.of(clean(id.get_string()))) act(*product);
  }

  Branch& branch_of(const Product& product, const std::string& version) {
    return branches_[{product.path, std::string{first_number(version)}}];
  }

  void raise(const Product& product, const std::string& version) {
    auto& fixed = branch_of(product, version).fixed;
    if (fixed.empty() || compare_versions(version, fixed) > 0) fixed = version;
  }

  void add_fixed(const Product& product) {
    for (const auto& each : product.versions)
      if (each.kind == VersionBound::exact || each.kind == VersionBound::from)
        raise(product, each.version);
  }

  void add_affected(const Product& product) {
    for (const auto& each : product.versions)
      if (each.kind == VersionBound::below)
        raise(product, each.version);
      else if (each.kind != VersionBound::from)
        branch_of(product, each.version).affected.push_back(each.version);
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

bool is_same_branch(const FloorRow& one, const FloorRow& other) {
  return one.component == other.component && one.branch == other.branch &&
         one.models == other.models;
}

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
  versions.write(advisory);
  return advisory;
}

FloorImport floor_rows(const Advisory& advisory, const FloorChoice& choice) {
  FloorImport import;
  for (const auto& each : advisory.fixed) {
    const bool meant = choice.product.empty() || fits_pattern(choice.product, each.product);
    const auto* words = choice.component.empty() ? words_of(each.product) : nullptr;
    if (!meant || (choice.component.empty() && words == nullptr)) {
      import.left_out.push_back(joined(each.product, each.version));
      continue;
    }
    FloorRow row{
        .component = words == nullptr ? choice.component : std::string{words->component},
        .branch = std::string{first_number(each.version)},
        .at_least = each.version,
        .models = words == nullptr || !choice.models.empty() ? choice.models : words->models,
        .advisory = shortened(advisory.publisher + " " + advisory.id, kLongest),
        .date = advisory.date,
        .source = advisory.title};
    const auto known = std::ranges::find_if(
        import.rows, [&](const FloorRow& other) { return is_same_branch(other, row); });
    if (known == import.rows.end())
      import.rows.push_back(std::move(row));
    else if (compare_versions(row.at_least, known->at_least) > 0)
      *known = std::move(row);
  }
  return import;
}

FloorMerge merged(SecurityFloor floor, const std::vector<FloorRow>& rows) {
  FloorMerge merge;
  for (const auto& each : rows) {
    const auto row = in_its_branch(each, floor);
    const auto known = std::ranges::find_if(
        floor.rows, [&](const FloorRow& other) { return is_same_branch(other, row); });
    const auto name = fmt::format("{} {}", row.component, row.branch);
    if (known == floor.rows.end()) {
      merge.changes.push_back(fmt::format("{}: at least {}, new", name, row.at_least));
      floor.rows.push_back(row);
      continue;
    }
    const auto order = compare_versions(row.at_least, known->at_least);
    if (order > 0) {
      merge.changes.push_back(
          fmt::format("{}: at least {}, was {}", name, row.at_least, known->at_least));
      *known = row;
    } else {
      merge.changes.push_back(
          fmt::format("{}: stays at {}, the advisory has {}", name, known->at_least, row.at_least));
    }
  }
  std::ranges::stable_sort(floor.rows, {}, &FloorRow::component);
  merge.floor = std::move(floor);
  return merge;
}

}  // namespace cupel::inventory
