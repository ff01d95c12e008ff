// Captured trees with one property or one resource damaged at a time: what hangs on it may be lost,
// and is then listed as unknown with its URI; everything else comes out as if nothing had happened.
#include <random>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

using inventory::Part;
using inventory::PartKind;
using inventory::Unknown;
using redfish::normal;
using Random = std::mt19937_64;
using Names = std::set<std::string>;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

/// What is done to one resource.
struct Wound {
  enum Kind { drop, null, wrong_type, not_found, fails, web_page } kind{};
  std::string uri{};
  std::string property{};  // "Status/Health"; empty: all of it

  bool is_of_property() const { return kind <= wrong_type; }
};

std::ostream& operator<<(std::ostream& out, const Wound& wound) {
  constexpr const char* kWords[] = {"dropped",  "null",     "of another type",
                                    "HTTP 404", "HTTP 500", "a web page"};
  return out << wound.uri << " " << wound.property << " " << kWords[wound.kind];
}

/// Something that no reader could take for the right thing.
json::value other_type(const json::value& value, Random& random) {
  const bool text = value.is_string();
  const json::value kinds[] = {true, json::array{json::array{}}, json::object{{"x", 1}},
                               text ? json::value{-1} : json::value{"\x1b[31m red"}};
  for (;;) {
    const auto& one = kinds[below(random, std::size(kinds))];
    if (one.kind() != value.kind()) return one;
  }
}

/// Hurts one property somewhere below `value`, and says which.
std::string hurt(json::value& value, Wound::Kind kind, Random& random) {
  std::string name;
  json::value* inner = nullptr;
  if (auto* object = value.if_object(); object != nullptr && !object->empty()) {
    const auto entry = object->begin() + static_cast<std::ptrdiff_t>(below(random, object->size()));
    name = entry->key();
    inner = &entry->value();
  } else if (auto* list = value.if_array(); list != nullptr && !list->empty()) {
    const auto place = below(random, list->size());
    name = std::to_string(place);
    inner = &(*list)[place];
  }
  if (inner == nullptr) return "";
  const bool deeper = (inner->is_object() && !inner->get_object().empty()) ||
                      (inner->is_array() && !inner->get_array().empty());
  if (deeper && below(random, 2) == 0) return name + "/" + hurt(*inner, kind, random);
  if (kind == Wound::drop && value.is_object()) {
    value.get_object().erase(name);
  } else if (kind == Wound::wrong_type) {
    *inner = other_type(*inner, random);
  } else {
    *inner = nullptr;
  }
  return name;
}

/// A captured tree, parsed once, of which one document is damaged.
class WoundedFetch final : public redfish::Fetch {
 public:
  explicit WoundedFetch(std::filesystem::path tree) : tree_{std::move(tree)} {}

  Task<Result<json::value>> get(std::string uri, Deadline) override {
    asked.insert(normal(uri));
    const bool hurts = normal(uri) == wounded_;
    const std::string what = "a01-n01: GET " + uri;
    if (hurts && wound_.kind == Wound::not_found)
      co_return Error{Code::kNotFound, what + ": HTTP 404"};
    if (hurts && wound_.kind == Wound::fails) co_return Error{Code::kFailed, what + ": HTTP 500"};
    if (hurts && wound_.kind == Wound::web_page)
      co_return Error{Code::kMalformed, what + ": HTTP 200: a web page where JSON was due"};
    if (hurts) co_return damaged_;
    const auto* whole = document(uri);
    if (whole == nullptr) co_return Error{Code::kNotFound, what + ": HTTP 404"};
    co_return *whole;
  }

  /// Says what it did to it.
  Wound wound(const std::string& uri, Wound::Kind kind, Random& random) {
    wound_ = {.kind = kind, .uri = uri};
    wounded_ = normal(uri);
    const auto* whole = document(uri);
    damaged_ = whole == nullptr ? json::value{} : *whole;
    if (wound_.is_of_property()) wound_.property = hurt(damaged_, kind, random);
    return wound_;
  }

  Names asked;  // normal URIs

 private:
  const json::value* document(const std::string& uri) {
    auto known = parsed_.find(uri);
    if (known == parsed_.end()) {
      const auto text = test::captured_answer(tree_, uri);
      auto parsed = text ? parse_json(*text) : Result<json::value>{json::value{}};
      known = parsed_.emplace(uri, parsed ? *std::move(parsed) : nullptr).first;
    }
    return known->second.is_object() ? &known->second : nullptr;
  }

  std::filesystem::path tree_;
  std::map<std::string, json::value> parsed_;
  Wound wound_{};
  std::string wounded_{};
  json::value damaged_{};
};

/// The fields in which two parts differ, in the words of facts_of.
Names differences(const Part& one, const Part& other) {
  Names fields;
  const auto note = [&](bool same, const char* name) {
    if (!same) fields.insert(name);
  };
  note(one.name == other.name, "name");
  note(one.model == other.model, "model");
  note(one.manufacturer == other.manufacturer, "manufacturer");
  note(one.serial == other.serial, "serial");
  note(one.part_number == other.part_number, "part number");
  note(one.firmware == other.firmware, "firmware");
  note(one.slot == other.slot, "slot");
  note(one.size_bytes == other.size_bytes, "size");
  note(one.count == other.count, "cores");
  note(one.health == other.health, "health");
  note(one.pcie == other.pcie, "PCIe link");
  note(one.macs == other.macs, "MACs");
  return fields;
}

bool holds(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

/// Holds a damaged machine's inventory against the whole one's.
class Comparison {
 public:
  Comparison(const Observed& whole, const Names& asked_then, const Observed& seen,
             const Names& asked_now, const Wound& wound)
      : whole_{whole},
        seen_{seen},
        asked_then_{asked_then},
        asked_now_{asked_now},
        wound_{wound},
        at_{normal(wound.uri)} {
    for (const auto& part : whole.parts) sources_.insert(normal(part.source));
  }

  void check() const {
    for (const auto& part : whole_.parts) check_part(part);
    for (const auto& part : seen_.parts) check_new(part);
    check_identity();
  }

 private:
  static const Part* find(const Observed& in, PartKind kind, const std::string& source,
                          const std::string& name) {
    const Part* found = nullptr;
    for (const auto& one : in.parts)
      if (one.kind == kind && one.source == source && (found == nullptr || one.name == name))
        found = &one;
    return found;
  }

  /// The damaged resource is the part's own, or below it (an adapter's ports), or on the way to it,
  /// so that it could not be read any more.
  bool hangs_on(const Part& part) const {
    const auto source = normal(part.source);
    return source == at_ || at_.starts_with(source + "/") ||
           (asked_then_.contains(source) && !asked_now_.contains(source));
  }

  /// Facts of a part that other resources tell.
  Names reported_by_wounded() const {
    if (holds(at_, "/Memory")) return {"size"};
    if (holds(at_, "/PCIeSlots")) return {"slot", "PCIe link"};
    if (holds(at_, "/UpdateService")) return {"firmware"};
    // An XCC's BIOS attributes have the MACs of adapters that tell none.
    if (holds(at_, "/Bios")) return {"MACs"};
    // An iLO 5's own list has the MACs of its cards.
    if (holds(at_, "/BaseNetworkAdapters")) return {"MACs"};
    Names reported{"slot", "PCIe link", "manufacturer", "model", "firmware"};
    // The serial number of a machine may be its chassis's alone (GB200).
    if (at_ == "/redfish/v1/Chassis" || is_member("/redfish/v1/Chassis")) {
      reported.insert("serial");
      return reported;
    }
    // A card that says nothing of itself is known by its PCI ids (DGX H100), or by the device in
    // its vendor's list (HPE).
    // Without its System, which lists the devices, too.
    const bool no_system = at_ == "/redfish/v1/Systems";
    if (!holds(at_, "/PCIeDevices") && !holds(at_, "/Devices") && !is_system() && !no_system)
      return {};
    reported.insert({"name", "kind", "MACs"});
    // A System links to the memories, which tell the size of each GPU.
    if (is_system()) reported.insert("size");
    return reported;
  }
  bool is_member(std::string_view collection) const {
    return at_.starts_with(collection) && at_.rfind('/') == collection.size();
  }
  bool is_system() const { return is_member("/redfish/v1/Systems"); }
  /// Whoever numbers what a list holds counts otherwise where the list itself is damaged.
  bool may_rename() const {
    const bool says_so = std::ranges::any_of(seen_.unknown, [&](const Unknown& one) {
      return one.fact.starts_with("numbers of ") && normal(one.source) == at_;
    });
    return !sources_.contains(at_) || is_system() || says_so;
  }

  bool is_noted(const Part* part = nullptr) const {
    return std::ranges::any_of(seen_.unknown, [&](const Unknown& one) {
      const bool there = normal(one.source) == at_ ||
                         (part != nullptr && normal(one.source) == normal(part->source));
      return there && std::ranges::find(whole_.unknown, one) == whole_.unknown.end();
    });
  }
  /// A chassis or a System need not link to what it has none of: nobody can tell a dropped link
  /// from one that was never there, unless chassis like it have theirs. Anything else that goes is
  /// noted.
  bool is_silent_by_right() const {
    if (wound_.kind != Wound::drop) return false;
    return is_system() || (is_member("/redfish/v1/Chassis") && sisters() < 3);
  }
  /// Chassis whose names differ from the damaged one's in numbers alone, itself included.
  std::size_t sisters() const {
    const auto stem = [](const std::string& uri) {
      std::string text;
      for (const char c : uri.substr(uri.rfind('/') + 1))
        if (c < '0' || c > '9') text += c;
      return text;
    };
    const auto own = stem(at_);
    if (own.empty()) return 1;
    const auto is_sister = [&](const std::string& uri) {
      return uri.starts_with("/redfish/v1/Chassis/") && uri.rfind('/') == at_.rfind('/') &&
             stem(uri) == own;
    };
    return static_cast<std::size_t>(std::ranges::count_if(asked_then_, is_sister));
  }
  /// An adapter that does not say any more what it is counts among others: who comes after it in
  /// either kind has another number, and keeps all that is reported of it.
  bool changed_kind(const Part& part) const {
    const auto is_card = [](PartKind kind) {
      return kind == PartKind::nic || kind == PartKind::hca || kind == PartKind::dpu ||
             kind == PartKind::nvme || kind == PartKind::drive;
    };
    if (!is_card(part.kind)) return false;
    const auto is_other = [&](const Part& one) {
      if (normal(one.source) != at_ || !is_card(one.kind)) return false;
      const auto before = std::ranges::find(whole_.parts, one.source, &Part::source);
      return before == whole_.parts.end() || before->kind != one.kind;
    };
    return std::ranges::any_of(seen_.parts, is_other);
  }

  void check_part(const Part& part) const {
    const auto* now = find(seen_, part.kind, part.source, part.name);
    const auto others = reported_by_wounded();
    if (now == nullptr) {
      EXPECT_TRUE(hangs_on(part) || others.contains("kind")) << part.name << " is gone";
      EXPECT_TRUE(is_noted(&part) || is_silent_by_right()) << part.name << " went without a word";
      return;
    }
    for (const auto& field : differences(part, *now)) {
      // A DPU's own BMC has its MACs at an adapter of another chassis than its card's.
      const bool adapters =
          part.kind == PartKind::dpu && holds(at_, "/Bluefield_BMC/NetworkAdapters");
      const bool allowed = hangs_on(part) || others.contains(field) ||
                           (field == "name" && (may_rename() || changed_kind(part))) ||
                           (field == "MACs" && adapters);
      EXPECT_TRUE(allowed) << field << " of " << part.name << " (" << part.source << ")";
      const bool fact = std::ranges::count(redfish::facts_of(part.kind), field) > 0;
      if (fact && !redfish::tells(*now, field))
        EXPECT_TRUE(is_noted(&part)) << field << " of " << part.name << " lost without a word";
    }
  }

  /// Nothing is made up: what is new comes from the damaged resource, or from where nobody had
  /// to look before.
  void check_new(const Part& part) const {
    if (find(whole_, part.kind, part.source, part.name) != nullptr) return;
    const auto source = normal(part.source);
    const bool fallback = !asked_then_.contains(source);
    const bool same_source = sources_.contains(source);
    // Another resource tells of the same part (GB200's CPUs and DIMMs).
    const auto is_same = [&](const Part& one) {
      return one.kind == part.kind && (one.name == part.name || hangs_on(one));
    };
    const bool instead = std::ranges::any_of(whole_.parts, is_same);
    // A card that does not say any more what it is still is a PCIe device.
    const bool less = part.kind == PartKind::pcie;
    EXPECT_TRUE(source == at_ || fallback || same_source || instead || less ||
                at_.starts_with(source + "/"))
        << part.name << " is new (" << part.source << ")";
  }

  /// Unchanged, or one that the machine's firmware has.
  bool is_listed(const std::string& then, const std::string& now) const {
    return then == now || std::ranges::any_of(seen_.parts, [&](const Part& part) {
             return part.kind == PartKind::firmware && part.firmware == now;
           });
  }

  void check_identity() const {
    const auto& then = whole_.identity;
    const auto& now = seen_.identity;
    if (then == now) return;
    auto former_versions = now;
    former_versions.bios_version = then.bios_version;
    former_versions.bmc_version = then.bmc_version;
    const bool versions_alone = former_versions == then;
    const bool near = at_ == "/redfish/v1" || holds(at_, "/Systems") || holds(at_, "/Managers") ||
                      at_ == "/redfish/v1/Chassis" || is_member("/redfish/v1/Chassis") ||
                      (versions_alone && at_.starts_with("/redfish/v1/UpdateService"));
    EXPECT_TRUE(near) << "identity";
    // The firmware list tells them instead.
    const bool instead = is_listed(then.bios_version, now.bios_version) &&
                         is_listed(then.bmc_version, now.bmc_version);
    if (versions_alone && instead) return;
    auto same_vendor = now;
    same_vendor.vendor = then.vendor;
    if (same_vendor == then) return;
    EXPECT_TRUE(is_noted()) << "identity changed without a word";
  }

  const Observed& whole_;
  const Observed& seen_;
  const Names& asked_then_;
  const Names& asked_now_;
  const Wound& wound_;
  std::string at_;
  Names sources_;
};

struct Dose {
  const char* machine;
  std::uint64_t seeds;
};

void PrintTo(const Dose& dose, std::ostream* out) { *out << dose.machine; }

/// A quarter of the seeds; the other three are long.
class Damage : public ::testing::TestWithParam<Dose> {
 protected:
  void costs_only_what_hangs_on_it(const std::filesystem::path& tree, std::uint64_t first,
                                   std::uint64_t last);
};
class LongDamage : public Damage {};

TEST_P(Damage, CostsWhatHangsOnItAndNothingElse) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  costs_only_what_hangs_on_it(tree, 1, GetParam().seeds / 4);
}

TEST_P(LongDamage, CostsWhatHangsOnItAndNothingElse) {
  CUPEL_NEED_CAPTURE(tree, GetParam().machine);
  costs_only_what_hangs_on_it(tree, GetParam().seeds / 4 + 1, GetParam().seeds);
}

void Damage::costs_only_what_hangs_on_it(const std::filesystem::path& tree, std::uint64_t first,
                                         std::uint64_t last) {
  asio::io_context io;
  WoundedFetch fetch{tree};
  const auto read = [&] {
    io.restart();
    fetch.asked.clear();
    return run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));
  };
  const auto whole = read();
  ASSERT_TRUE(whole);
  const auto asked = fetch.asked;
  const std::vector<std::string> uris{asked.begin(), asked.end()};

  for (auto seed = first; seed <= last; ++seed) {
    Random random{seed};
    const auto uri = uris[below(random, uris.size())];
    const auto kind = static_cast<Wound::Kind>(below(random, 6));
    const auto wound = fetch.wound(uri, kind, random);
    std::ostringstream trace;
    trace << GetParam().machine << " seed " << seed << ": " << wound;
    SCOPED_TRACE(trace.str());

    const auto seen = read();

    if (!seen) {
      // Where nothing lists a System any more there is no machine to speak of.
      EXPECT_EQ(normal(uri), "/redfish/v1/Systems") << seen.error().what;
      EXPECT_FALSE(seen.error().what.empty());
      continue;
    }
    Comparison{*whole, asked, *seen, fetch.asked, wound}.check();
    for (const auto& part : seen->parts)
      EXPECT_EQ((part.name + part.model + part.serial + part.slot).find('\x1b'), std::string::npos);
    if (HasFailure()) break;  // one is enough to read
  }
}

// Fewer where one inventory takes longer.
const auto kMachines = ::testing::Values(
    Dose{"nvidia_viking", 125}, Dose{"supermicro", 150}, Dose{"dell", 200}, Dose{"hpe", 150},
    Dose{"lenovo", 175}, Dose{"nvidia_gb200", 200}, Dose{"nvidia_dpu", 250},
    Dose{"nvidia-bluefield3-bmc-23.10", 250}, Dose{"XL675d_A100", 200}, Dose{"OpenBMC-stock", 250},
    Dose{"Gigabyte", 250}, Dose{"hpe-dl380a-gen11-ilo6-2xh100nvl", 400},
    Dose{"lenovo-sr670v2-xcc-1.40", 400});

std::string name_of(const ::testing::TestParamInfo<Dose>& dose) {
  std::string name = dose.param.machine;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captured, Damage, kMachines, name_of);
INSTANTIATE_TEST_SUITE_P(LongCaptured, LongDamage, kMachines, name_of);

}  // namespace
}  // namespace cupel::bmc
