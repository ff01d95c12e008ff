#include "rehearsal/read_faults.h"

#include <fmt/format.h>

#include "inventory/node_range.h"
#include "rehearsal/hardware.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using Problems = std::vector<inventory::Problem>;

/// The parts that a fault of this kind can be about.
std::vector<std::string> parts_for(FaultKind kind, const Hardware& hardware) {
  std::vector<std::string> names;
  const auto add = [&](const auto& parts) {
    for (const auto& part : parts) names.push_back(part.name);
  };
  switch (kind) {
    case FaultKind::gpu_missing:
    case FaultKind::gpu_ecc:
    case FaultKind::gpu_remap_pending:
    case FaultKind::gpu_slow_link:
      add(hardware.gpus);
      break;
    case FaultKind::dimm_missing:
    case FaultKind::dimm_too_small:
      add(hardware.dimms);
      break;
    case FaultKind::psu_missing:
      add(hardware.psus);
      break;
    case FaultKind::nvme_missing:
    case FaultKind::disk_slow:
    case FaultKind::disk_errors:
      add(hardware.drives);
      break;
    default:
      break;
  }
  return names;
}

/// What has a version of its own, here or in a baseline.
std::vector<std::string> components_of(const Hardware& hardware) {
  std::vector<std::string> names{"HostBMC_0", "HostBIOS_0", "CPLDMB_0", "driver",
                                 "gpu",       "hca",        "psu"};
  for (const auto& gpu : hardware.gpus)
    names.push_back(fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1));
  for (const auto& [component, version] : hardware.firmware) names.push_back(component);
  return names;
}

class FaultReader {
 public:
  FaultReader(const inventory::YamlValue& item, const std::string& file, const Hardware* whole,
              RackSpec& into, Problems& problems)
      : fields_{item, "fault", file, problems}, whole_{whole}, into_{into} {}

  void read() {
    const auto nodes = named_nodes();
    const auto* row = named_row();
    if (row == nullptr) {
      // What else it may say depends on the kind: nothing is said about the rest.
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
      fields_.report(fields_.place(key), names.assume_error().what);
      return {};
    }
    std::vector<NodeSpec*> found;
    for (const auto& name : names.assume_value())
      if (auto* node = known(key, name)) found.push_back(node);
    return found;
  }

  NodeSpec* known(std::string_view key, const std::string& name) {
    const auto node = std::ranges::find(into_.nodes, name, &NodeSpec::name);
    if (node != into_.nodes.end()) return &*node;
    if (into_.nodes.empty()) return nullptr;  // already said
    std::vector<std::string> names;
    for (const auto& each : into_.nodes) names.push_back(each.name);
    fields_.report(fields_.place(key), "there is no node '" + name + "'" +
                                           inventory::did_you_mean(name, std::span{names}));
    return nullptr;
  }

  bool takes(const FaultRow& row, std::string_view key) {
    const bool needed = std::ranges::find(row.required, key) != row.required.end();
    const bool allowed = std::ranges::find(row.optional, key) != row.optional.end();
    if (needed && !fields_.has(key))
      fields_.report(fields_.place(), fmt::format("fault {} needs {}", row.name, key));
    return (needed || allowed) && fields_.has(key);
  }

  Fault details(const FaultRow& row) {
    Fault fault{.kind = row.kind};
    if (takes(row, "part")) fault.part = part_of(row);
    if (takes(row, "size")) fault.bytes = fields_.size("size");
    if (takes(row, "for")) fault.span = fields_.duration("for");
    if (takes(row, "after")) fault.span = fields_.duration("after");
    constexpr long kMostErrors = 1'000'000;
    if (takes(row, "errors"))
      if (const auto errors = fields_.integer("errors", 1, kMostErrors))
        fault.errors = static_cast<int>(*errors);
    if (takes(row, "gen"))
      if (const auto gen = fields_.integer("gen", 1, 6)) fault.gen = static_cast<int>(*gen);
    if (takes(row, "width"))
      if (const auto width = fields_.integer("width", 1, 16))
        fault.width = static_cast<int>(*width);
    if (row.kind == FaultKind::bmc_answer) fault.answer = answer(row);
    if (takes(row, "every"))
      if (const auto every = fields_.integer("every", 2, 100))
        fault.every = static_cast<int>(*every);
    if (takes(row, "component")) fault.component = component();
    if (takes(row, "version")) fault.version = fields_.text("version").value_or("");
    return fault;
  }

  WrongAnswer answer(const FaultRow& row) {
    constexpr long kMostTimes = 1'000'000;
    WrongAnswer wrong;
    if (takes(row, "path")) wrong.path = fields_.text("path").value_or("");
    if (takes(row, "method")) wrong.method = fields_.text("method").value_or("");
    if (takes(row, "status"))
      wrong.status = static_cast<int>(fields_.integer("status", 200, 599).value_or(503));
    if (takes(row, "body")) wrong.body = fields_.text("body").value_or("");
    if (takes(row, "times"))
      wrong.times = static_cast<int>(fields_.integer("times", 1, kMostTimes).value_or(1));
    if (takes(row, "late")) wrong.late = fields_.duration("late").value_or(std::chrono::seconds{0});
    if (wrong.status == 0 && wrong.late.count() == 0)
      fields_.report(fields_.place(), "fault bmc-answer needs status or late");
    return wrong;
  }

  std::string part_of(const FaultRow& row) {
    auto part = fields_.text("part").value_or("");
    if (whole_ != nullptr) check(part, parts_for(row.kind, *whole_), "part", row.name);
    return part;
  }

  std::string component() {
    auto name = fields_.text("component").value_or("");
    if (whole_ != nullptr) check(name, components_of(*whole_), "component", "wrong-firmware");
    return name;
  }

  void check(const std::string& name, const std::vector<std::string>& known, std::string_view key,
             std::string_view fault) {
    if (name.empty() || std::ranges::find(known, name) != known.end()) return;
    fields_.report(fields_.place(key),
                   fmt::format("profile {} has no {} '{}' for fault {}{}", whole_->profile, key,
                               name, fault, inventory::did_you_mean(name, std::span{known})));
  }

  void plant(NodeSpec& node, const Fault& fault) {
    const bool twice = std::ranges::any_of(node.faults, [&](const Fault& other) {
      return other.kind == fault.kind && other.part == fault.part &&
             other.component == fault.component && other.answer == fault.answer;
    });
    if (twice)
      fields_.report(fields_.place("fault"), fmt::format("node '{}' has fault {} twice", node.name,
                                                         row_of(fault.kind).name));
    else
      node.faults.push_back(fault);
  }

  YamlFields fields_;
  const Hardware* whole_;
  RackSpec& into_;
};

}  // namespace

void read_faults(std::span<const inventory::YamlValue> items, const std::string& file,
                 const inventory::Profile* profile, RackSpec& into, Problems& problems) {
  std::optional<Hardware> whole;
  if (profile != nullptr) whole = make_hardware(*profile, "", 0, {});
  for (const auto& item : items)
    FaultReader{item, file, whole ? &*whole : nullptr, into, problems}.read();
}

}  // namespace cupel::rehearsal
