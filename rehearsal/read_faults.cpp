#include "rehearsal/read_faults.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/node_range.h"
#include "rehearsal/hardware.h"
#include "rehearsal/physics/load.h"
#include "rehearsal/tools/gpu_report.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using Problems = std::vector<inventory::Problem>;

/// The parts that a fault of this kind can be about.
std::vector<std::string> parts_for(PartClass about, const Hardware& hardware) {
  std::vector<std::string> names;
  const auto add = [&](const auto& parts) {
    for (const auto& part : parts) names.push_back(part.name);
  };
  switch (about) {
    case PartClass::none:
      break;
    case PartClass::gpu:
      add(hardware.gpus);
      break;
    case PartClass::nvswitch:
      add(hardware.nvswitches);
      break;
    case PartClass::dimm:
      add(hardware.dimms);
      break;
    case PartClass::drive:
      add(hardware.drives);
      break;
    case PartClass::psu:
      add(hardware.psus);
      break;
    case PartClass::fan:
      add(hardware.fans);
      break;
    case PartClass::cpu:
      add(hardware.cpus);
      break;
    case PartClass::hca:
      for (const auto& adapter : hardware.adapters)
        if (adapter.infiniband) names.push_back(adapter.name);
      break;
  }
  return names;
}

/// What has a version of its own, here or in a baseline.
std::vector<std::string> components_of(const Hardware& hardware) {
  std::vector<std::string> names{"HostBMC_0", "HostBIOS_0", "CPLDMB_0", "driver", "gpu",
                                 "hca",       "psu",        "nvme",     "kernel", "command line"};
  for (const auto& gpu : hardware.gpus)
    names.push_back(fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1));
  for (const auto& drive : hardware.drives) names.push_back(drive.name);
  for (const auto& adapter : hardware.adapters) names.push_back(adapter.name);
  for (const auto& dimm : hardware.dimms) names.push_back(dimm.name);
  for (const auto& [component, version] : hardware.firmware) names.push_back(component);
  return names;
}

/// One word that a fault may say. Where two words share a key, no row has both.
struct Word {
  std::string_view word;  // as fault_table.cpp has it
  std::string_view key;   // as a file has it
  void (*read)(YamlFields& fields, Fault& into);
};

template <std::optional<int> Fault::* member, long least, long most>
void read_integer(YamlFields& fields, Fault& into, std::string_view key) {
  if (const auto value = fields.integer(key, least, most)) into.*member = static_cast<int>(*value);
}

void read_amount(YamlFields& fields, Fault& into, std::string_view key, double least, double most) {
  const auto value = fields.number(key);
  if (!value) return;
  if (*value >= least && *value <= most)
    into.amount = *value;
  else
    fields.report(fields.place(key),
                  fmt::format("{} must be {} to {}, not {}", key, least, most, *value));
}

void read_span(YamlFields& fields, Fault& into, std::string_view key) {
  if (const auto value = fields.duration(key)) into.span = *value;
}

/// A line of the kernel's log, a message of the BMC's.
void read_line(YamlFields& fields, Fault& into, std::string_view key) {
  constexpr std::size_t kMost = 400;
  into.component = fields.text(key).value_or("");
  if (into.component.size() > kMost)
    fields.report(fields.place(key), fmt::format("{} must have at most {} bytes", key, kMost));
}

void read_severity(YamlFields& fields, Fault& into) {
  into.version = fields.text("severity").value_or("");
  if (into.version == "OK" || into.version == "Warning" || into.version == "Critical") return;
  fields.report(fields.place("severity"), "severity must be OK, Warning or Critical");
}

void read_way(YamlFields& fields, Fault& into) {
  into.other = fields.text("way").value_or("");
  if (into.other == "out" || into.other == "in") return;
  fields.report(fields.place("way"), "way must be out or in; without it both are meant");
}

constexpr long kMany = 1'000'000;
constexpr auto kWords = std::to_array<Word>({
    {"size", "size", [](YamlFields& f, Fault& into) { into.bytes = f.size("size"); }},
    {"for", "for", [](YamlFields& f, Fault& into) { read_span(f, into, "for"); }},
    {"cut", "after", [](YamlFields& f, Fault& into) { read_span(f, into, "after"); }},
    {"delay", "after", [](YamlFields& f, Fault& into) { read_span(f, into, "after"); }},
    {"period", "every", [](YamlFields& f, Fault& into) { read_span(f, into, "every"); }},
    {"errors", "errors",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::errors, 1, kMany>(f, into, "errors"); }},
    {"gen", "gen",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::gen, 1, 6>(f, into, "gen"); }},
    {"width", "width",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::width, 1, 16>(f, into, "width"); }},
    {"nth", "every",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::every, 2, 100>(f, into, "every"); }},
    {"link", "link",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 0, 17>(f, into, "link"); }},
    {"sm", "sm",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 0, 255>(f, into, "sm"); }},
    {"core", "core",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 0, 1023>(f, into, "core"); }},
    {"code", "code",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 1, 999>(f, into, "code"); }},
    {"uplink", "uplink",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 0, 255>(f, into, "uplink"); }},
    {"way", "way", read_way},
    {"index", "index",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 0, 255>(f, into, "index"); }},
    {"feed", "feed",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 1, 2>(f, into, "feed"); }},
    {"celsius", "celsius",
     [](YamlFields& f, Fault& into) { read_amount(f, into, "celsius", 1, 80); }},
    {"watts", "watts", [](YamlFields& f, Fault& into) { read_amount(f, into, "watts", 50, 3000); }},
    {"share", "share", [](YamlFields& f, Fault& into) { read_amount(f, into, "share", 0, 1); }},
    {"gbit", "gbit", [](YamlFields& f, Fault& into) { read_amount(f, into, "gbit", 1, 800); }},
    {"percent", "percent",
     [](YamlFields& f, Fault& into) { read_amount(f, into, "percent", 0, 255); }},
    {"years", "years", [](YamlFields& f, Fault& into) { read_amount(f, into, "years", -60, 60); }},
    {"component", "component",
     [](YamlFields& f, Fault& into) { into.component = f.text("component").value_or(""); }},
    {"version", "version",
     [](YamlFields& f, Fault& into) { into.version = f.text("version").value_or(""); }},
    {"line", "line", [](YamlFields& f, Fault& into) { read_line(f, into, "line"); }},
    {"message", "message", [](YamlFields& f, Fault& into) { read_line(f, into, "message"); }},
    {"severity", "severity", read_severity},
    {"sensor", "sensor",
     [](YamlFields& f, Fault& into) { into.other = f.text("sensor").value_or(""); }},
    {"mhz", "mhz", [](YamlFields& f, Fault& into) { read_amount(f, into, "mhz", 100, 4000); }},
    {"mts", "mts",
     [](YamlFields& f, Fault& into) { read_integer<&Fault::number, 800, 12'000>(f, into, "mts"); }},
    {"field", "field",
     [](YamlFields& f, Fault& into) { into.component = f.text("field").value_or(""); }},
    {"setting", "setting",
     [](YamlFields& f, Fault& into) { into.component = f.text("setting").value_or(""); }},
    {"value", "value",
     [](YamlFields& f, Fault& into) { into.version = f.text("value").value_or(""); }},
    {"with", "with", [](YamlFields& f, Fault& into) { into.other = f.text("with").value_or(""); }},
    {"name", "name", [](YamlFields& f, Fault& into) { into.other = f.text("name").value_or(""); }},
});

/// "gpu3" of "NVRM: GPU {gpu3}: ...".
std::vector<std::string> parts_in_line(FaultKind kind, const Fault& fault) {
  std::vector<std::string> parts;
  std::string_view line = kind == FaultKind::kernel_line ? fault.component : std::string_view{};
  for (auto open = line.find('{'); open != line.npos; open = line.find('{')) {
    line.remove_prefix(open + 1);
    if (const auto close = line.find('}'); close != line.npos)
      parts.emplace_back(line.substr(0, close));
  }
  return parts;
}

constexpr std::array<std::string_view, 10> kWorks{"gemm",  "hbm", "pcie", "p2p",    "collective",
                                                  "train", "cpu", "disk", "memory", "idle"};

/// What is looked at again with each load, and nothing else tells of: it may be there under a load
/// alone (Timing::under).
bool comes_under_load(FaultKind kind) {
  using enum FaultKind;
  constexpr std::array kSuch{gpu_off_bus,       gpu_hot,         gpu_power_capped,
                             gpu_wrong_results, gpu_slow_memory, nvlink_down,
                             nvlink_errors,     kernel_panic,    node_restarts};
  return std::ranges::find(kSuch, kind) != kSuch.end();
}

/// What is reported of one of two nodes is true of both.
bool is_mutual(FaultKind kind) {
  return kind == FaultKind::node_swapped || kind == FaultKind::bmc_crossed;
}

/// What the machine has is the other one's.
bool is_identity_twice(FaultKind kind) {
  return kind == FaultKind::serial_twice || kind == FaultKind::bmc_mac_twice;
}

/// A machine of each profile with nothing wrong.
class Wholes {
 public:
  explicit Wholes(const RackSpec& rack) : rack_{rack} {}

  /// nullptr where there is no such profile, which was already reported.
  const Hardware* of(const std::string& profile) {
    const auto found = rack_.profiles.find(profile);
    if (found == rack_.profiles.end()) return nullptr;
    const auto made = made_.find(profile);
    if (made != made_.end()) return &made->second;
    return &made_.emplace(profile, make_hardware(found->second, "", 0, {})).first->second;
  }

 private:
  const RackSpec& rack_;
  std::map<std::string, Hardware> made_{};
};

class FaultReader {
 public:
  FaultReader(const inventory::YamlValue& item, const std::string& file, Wholes& wholes,
              RackSpec& into, Problems& problems)
      : fields_{item, "fault", file, problems}, all_wholes_{wholes}, into_{into} {}

  void read() {
    const auto nodes = named_nodes();
    for (const auto* node : nodes) {
      const auto* whole = all_wholes_.of(into_.profile_of(*node));
      if (whole != nullptr && std::ranges::find(wholes_, whole) == wholes_.end())
        wholes_.push_back(whole);
    }
    const auto* row = named_row();
    if (row == nullptr) {
      // What else it may say depends on the kind: nothing is reported about the rest.
      return;
    }
    const auto fault = details(*row);
    fields_.finish();
    for (auto* node : nodes) plant(*node, fault);
  }

 private:
  const FaultRow* named_row() {
    auto name = fields_.required("fault");
    // Names in C++ and in other people's YAML have underscores.
    std::ranges::replace(name, '_', '-');
    const auto* row = fault_row(name);
    if (row == nullptr && !name.empty()) {
      const auto names = fault_names();
      fields_.report(fields_.place("fault"), "there is no fault '" + name + "'" +
                                                 inventory::did_you_mean(name, std::span{names}));
    }
    return row;
  }

  std::vector<NodeSpec*> named_nodes() {
    const bool many = fields_.has("nodes"), one = fields_.has("node");
    if (many == one) {
      fields_.report(fields_.place(), "fault needs node or nodes, one of them");
      return {};
    }
    const auto key = many ? "nodes" : "node";
    auto names = inventory::expand(fields_.text(key).value_or(""));
    if (!names) {
      fields_.report(fields_.place(key), names.error().what);
      return {};
    }
    std::vector<NodeSpec*> found;
    for (const auto& name : *names)
      if (auto* node = known(key, name)) found.push_back(node);
    return found;
  }

  NodeSpec* known(std::string_view key, const std::string& name) {
    const auto node = std::ranges::find(into_.nodes, name, &NodeSpec::name);
    if (node != into_.nodes.end()) return &*node;
    if (into_.nodes.empty()) return nullptr;  // already reported
    std::vector<std::string> names;
    for (const auto& each : into_.nodes) names.push_back(each.name);
    fields_.report(fields_.place(key), "there is no node '" + name + "'" +
                                           inventory::did_you_mean(name, std::span{names}));
    return nullptr;
  }

  /// What its row says that it may say, then when it is there.
  Fault details(const FaultRow& row) {
    Fault fault{.kind = row.kind};
    std::vector<std::string_view> taken;
    if (row.about != PartClass::none) fault.part = part_of(row);
    for (const auto written : words(row.words)) {
      const bool optional = written.ends_with('?');
      const auto& word =
          *std::ranges::find(kWords, written.substr(0, written.size() - optional), &Word::word);
      taken.push_back(word.key);
      if (fields_.has(word.key))
        word.read(fields_, fault);
      else if (!optional)
        fields_.report(fields_.place(), fmt::format("fault {} needs {}", row.name, word.key));
    }
    fault.logged = fields_.flag("log").value_or(true);
    fault.timing = timing(taken);
    if (!fault.timing.under.empty() && !comes_under_load(row.kind))
      fields_.report(fields_.place("under"),
                     fmt::format("fault {} cannot come with a load: it is there or not", row.name));
    const auto work = work_named(fault.timing.under);
    if (row.about == PartClass::gpu && work && !is_of_gpus(*work))
      fields_.report(fields_.place("under"),
                     fmt::format("{} is no load of GPUs, and fault {} is one "
                                 "of a GPU",
                                 fault.timing.under, row.name));
    check_details(row, fault);
    if (is_identity_twice(row.kind)) fault.version = written_identity(fault);
    return fault;
  }

  /// The serial number or MAC that somebody has written down of the other machine; empty: none,
  /// its own is drawn.
  std::string written_identity(const Fault& fault) const {
    const auto other = std::ranges::find(into_.nodes, fault.other, &NodeSpec::name);
    if (other == into_.nodes.end()) return {};  // already reported
    const auto& [serial, bmc_mac] = other->identity;
    if (fault.kind == FaultKind::serial_twice) return serial;
    return bmc_mac.empty() && !serial.empty() ? bmc_mac_of(serial) : bmc_mac;
  }

  Timing timing(std::span<const std::string_view> taken) {
    const auto span = [&](std::string_view key) -> std::optional<VirtualTime> {
      if (std::ranges::find(taken, key) != taken.end()) return std::nullopt;
      const auto value = fields_.duration(key);
      return value ? std::optional<VirtualTime>{*value} : std::nullopt;
    };
    Timing timing;
    timing.after = span("after").value_or(VirtualTime{0});
    timing.every = span("every");
    timing.lasts = span("for");
    timing.under = fields_.text("under").value_or("");
    if (timing.every && (!timing.lasts || *timing.lasts >= *timing.every))
      fields_.report(fields_.place("every"),
                     "a fault that comes back says for how long, and that is less than every");
    if (!timing.under.empty() && std::ranges::find(kWorks, timing.under) == kWorks.end())
      fields_.report(fields_.place("under"),
                     "there is no load '" + timing.under + "'" +
                         inventory::did_you_mean(timing.under, std::span{kWorks}));
    return timing;
  }

  void check_details(const FaultRow& row, const Fault& fault) {
    if (row.kind == FaultKind::wrong_firmware)
      check(fault.component, components_of, "component", row.name);
    for (const auto& name : parts_in_line(row.kind, fault))
      check(
          name,
          [](const Hardware& whole) {
            auto names = parts_for(PartClass::gpu, whole);
            for (const auto about : {PartClass::hca, PartClass::drive})
              std::ranges::copy(parts_for(about, whole), std::back_inserter(names));
            return names;
          },
          "line", row.name);
    if (row.kind == FaultKind::gpu_report) check_report(fault);
    if (row.kind == FaultKind::cables_swapped)
      check(
          fault.other, [&](const Hardware& whole) { return parts_for(row.about, whole); }, "with",
          row.name);
    const bool of_nodes = is_mutual(row.kind) || row.kind == FaultKind::cables_crossed ||
                          row.kind == FaultKind::pair_slow || is_identity_twice(row.kind);
    if (of_nodes && !fault.other.empty()) known("with", fault.other);
  }

  void check_report(const Fault& fault) {
    const auto names = gpu_report_fields();
    const auto* field = gpu_report_field(fault.component);
    if (field == nullptr)
      return fields_.report(fields_.place("field"),
                            "gpu-report has no field '" + fault.component + "'" +
                                inventory::did_you_mean(fault.component, std::span{names}));
    if (field->takes == kNameOfGpu)
      check(
          fault.version, [](const Hardware& whole) { return parts_for(PartClass::gpu, whole); },
          "value", "gpu-report");
    else if (!takes(*field, fault.version))
      fields_.report(fields_.place("value"), fmt::format("{} takes {}, not '{}'", field->name,
                                                         field->takes, fault.version));
  }

  std::string part_of(const FaultRow& row) {
    auto part = fields_.text("part").value_or("");
    if (part.empty()) fields_.report(fields_.place(), fmt::format("fault {} needs part", row.name));
    check(
        part, [&](const Hardware& whole) { return parts_for(row.about, whole); }, "part", row.name);
    return part;
  }

  /// Against each kind of machine that the fault is to be planted in.
  template <class Known>
  void check(const std::string& name, const Known& known_in, std::string_view key,
             std::string_view fault) {
    for (const auto* whole : wholes_) {
      const auto known = known_in(*whole);
      if (name.empty() || std::ranges::find(known, name) != known.end()) continue;
      fields_.report(fields_.place(key),
                     fmt::format("profile {} has no {} '{}' for fault {}{}", whole->profile, key,
                                 name, fault, inventory::did_you_mean(name, std::span{known})));
    }
  }

  void plant(NodeSpec& node, const Fault& fault) {
    const bool twice = std::ranges::any_of(node.faults, [&](const Fault& other) {
      return other.kind == fault.kind && other.part == fault.part && other.number == fault.number &&
             other.component == fault.component;
    });
    if (twice) {
      fields_.report(fields_.place("fault"), fmt::format("node '{}' has fault {} twice", node.name,
                                                         row_of(fault.kind).name));
      return;
    }
    node.faults.push_back(fault);
    if (is_mutual(fault.kind)) plant_other_half(node, fault);
  }

  /// Two machines change places: what is reported of one is true of the other.
  void plant_other_half(const NodeSpec& node, Fault fault) {
    const auto other = std::ranges::find(into_.nodes, fault.other, &NodeSpec::name);
    if (other == into_.nodes.end()) return;  // already reported
    fault.other = node.name;
    other->faults.push_back(std::move(fault));
  }

  YamlFields fields_;
  Wholes& all_wholes_;
  std::vector<const Hardware*> wholes_{};  // kinds of machine that it is about
  RackSpec& into_;
};

}  // namespace

void read_faults(std::span<const inventory::YamlValue> items, const std::string& file,
                 RackSpec& into, Problems& problems) {
  Wholes wholes{into};
  for (const auto& item : items) FaultReader{item, file, wholes, into, problems}.read();
}

}  // namespace cupel::rehearsal
