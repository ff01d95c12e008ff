// Network adapters: those that carry RDMA are HCAs, the others NICs.
#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// ConnectX and BlueField by maker, family or ordering number (MCX..., MBF...).
bool is_hca(const Part& part, std::string_view name) {
  constexpr std::array<std::string_view, 9> kSigns{
      "mellanox", "mlnx", "nvidia", "connectx", "mcx", "mbf", "bluefield", "infiniband", "cx7"};
  const auto text = lower_case(part.manufacturer + " " + part.model + " " + part.part_number + " " +
                               part.source + " " + std::string{name});
  return std::ranges::any_of(kSigns,
                             [&](auto sign) { return text.find(sign) != std::string::npos; });
}

/// What the first controller tells: its firmware, and where it sits.
void add_controller(Part& part, const json::value& adapter) {
  const auto* list = find(adapter, "Controllers");
  const auto* controllers = list == nullptr ? nullptr : list->if_array();
  if (controllers == nullptr || controllers->empty()) return;
  const auto& first = controllers->front();
  if (part.firmware.empty()) part.firmware = told(first, "FirmwarePackageVersion");
  if (part.slot.empty()) part.slot = told(first, "Location/PartLocation/ServiceLabel");
}

}  // namespace

Task<void> read_adapters(Survey& survey, const std::vector<Document>& chassis) {
  std::vector<Document> adapters;
  for (const auto& one : chassis) {
    auto found = co_await survey.members(link_at(one.body, "NetworkAdapters"), "adapter");
    adapters.insert(adapters.end(), std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
  }
  std::ranges::stable_sort(adapters, [](const Document& left, const Document& right) {
    return natural_less(last_name(left.uri), last_name(right.uri));
  });
  std::size_t hcas = 0, nics = 0;
  for (const auto& adapter : adapters) {
    if (is_absent(adapter.body)) continue;
    Part part = part_of(PartKind::nic, "", adapter);
    add_controller(part, adapter.body);
    if (part.slot.empty()) part.slot = last_name(adapter.uri);
    const bool hca = is_hca(part, told(adapter.body, "Name"));
    part.kind = hca ? PartKind::hca : PartKind::nic;
    part.name = hca ? "hca" + std::to_string(hcas++) : "nic" + std::to_string(nics++);
    if (part.model.empty() && part.manufacturer.empty())
      survey.unknown("model of " + part.name, part.source, "absent");
    survey.add(std::move(part));
  }
}

}  // namespace cupel::bmc::redfish
