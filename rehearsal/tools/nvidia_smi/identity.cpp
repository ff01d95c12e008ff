// The first half of what nvidia-smi tells of a GPU: what it is, and how it is connected.
#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/nvidia_smi/rows.h"

namespace cupel::rehearsal {
namespace {

std::string on(bool set) { return set ? "Enabled" : "Disabled"; }

void add_pair(RowWriter& rows, std::string label, std::string tag, const char* now_tag,
              const char* later_tag, std::string field, const std::string& now,
              const std::string& later) {
  rows.open(std::move(label), std::move(tag));
  rows.leaf("Current", now_tag, field.empty() ? "" : field + ".current", now);
  rows.leaf("Pending", later_tag, field.empty() ? "" : field + ".pending", later);
  rows.close();
}

void add_name(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  rows.leaf("Product Name", "product_name", "name", gpu.product());
  rows.leaf("Product Brand", "product_brand", "", "NVIDIA");
  rows.leaf("Product Architecture", "product_architecture", "",
            std::string{gpu.model.architecture});
  rows.leaf("Display Mode", "display_mode", "display_mode", kDeprecated);
  rows.leaf("Display Attached", "display_attached", "display_attached", "Yes");
  rows.leaf("Display Active", "display_active", "display_active", "Disabled");
  rows.leaf("Persistence Mode", "persistence_mode", "persistence_mode", on(gpu.persistence));
  rows.leaf("Addressing Mode", "addressing_mode", "addressing_mode", "None");
  add_pair(rows, "MIG Mode", "mig_mode", "current_mig", "pending_mig", "mig.mode", on(gpu.mig),
           on(gpu.mig_pending));
  rows.leaf("", "mig_devices", "", "").xml = "\n\t\t\tNone\n\t\t";
  rows.section(Section::accounting);
  rows.leaf("Accounting Mode", "accounting_mode", "accounting.mode", "Disabled");
  rows.leaf("Accounting Mode Buffer Size", "accounting_mode_buffer_size", "accounting.buffer_size",
            "4000");
  rows.section(Section::none);
  add_pair(rows, "Driver Model", "driver_model", "current_dm", "pending_dm", "driver_model", "N/A",
           "N/A");
}

void add_numbers(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  rows.leaf("Serial Number", "serial", "serial", gpu.part.serial);
  rows.leaf("GPU UUID", "uuid", "uuid", gpu.part.uuid);
  rows.leaf("GPU PDI", "pdi", "", "0x" + gpu.part.uuid.substr(4, 8) + gpu.part.uuid.substr(28, 8));
  rows.leaf("Minor Number", "minor_number", "", std::to_string(gpu.index));
  rows.leaf("VBIOS Version", "vbios_version", "vbios_version", gpu.part.vbios);
  rows.leaf("MultiGPU Board", "multigpu_board", "", "No");
  rows.leaf("Board ID", "board_id", "", "0x" + gpu.part.pci.substr(5, 2) + "00");
  rows.leaf("Board Part Number", "board_part_number", "", std::string{gpu.model.board_part});
  rows.leaf("GPU Part Number", "gpu_part_number", "", std::string{gpu.model.gpu_part});
  rows.leaf("FRU Part Number", "gpu_fru_part_number", "", "N/A");
  rows.open("Platform Info", "platformInfo");
  rows.leaf("Chassis Serial Number", "chassis_serial_number", "platform.chassis_serial_number",
            "N/A")
      .csv = "";
  rows.leaf("Slot Number", "slot_number", "platform.slot_number", "N/A").csv = "0";
  rows.leaf("Tray Index", "tray_index", "platform.tray_index", "N/A").csv = "0";
  rows.leaf("Host ID", "host_id", "platform.host_id", "N/A").csv = "1";
  rows.leaf("Peer Type", "peer_type", "platform.peer_type", "N/A").csv = "Switch Connected";
  rows.leaf("Module Id", "module_id", "platform.module_id", std::to_string(gpu.part.index + 1));
  rows.leaf("GPU Fabric GUID", "gpu_fabric_guid", "platform.gpu_fabric_guid", "N/A").csv =
      "0x0000000000000000";
  rows.close();
}

void add_firmware(RowWriter& rows, const DriverView& driver, const GpuView& gpu) {
  rows.open("Inforom Version", "inforom_version");
  rows.leaf("Image Version", "img_version", "inforom.img", std::string{gpu.model.image});
  rows.leaf("OEM Object", "oem_object", "inforom.oem", "2.1");
  rows.leaf("ECC Object", "ecc_object", "inforom.ecc", "7.16");
  rows.leaf("Power Management Object", "pwr_object", "inforom.pwr", "N/A");
  rows.leaf("", "", "inforom.checksum_validation", gpu.inforom_valid ? "valid" : "invalid");
  rows.close();
  rows.open("Inforom BBX Object Flush", "inforom_bbx_flush");
  rows.leaf("Latest Timestamp", "latest_timestamp", "", "N/A");
  rows.leaf("Latest Duration", "latest_duration", "", "N/A");
  rows.close();
  add_pair(rows, "GPU Operation Mode", "gpu_operation_mode", "current_gom", "pending_gom", "gom",
           "N/A", "N/A");
  rows.leaf("GPU C2C Mode", "c2c_mode", "c2c.mode", "Disabled");
  rows.open("GPU Virtualization Mode", "gpu_virtualization_mode");
  rows.leaf("Virtualization Mode", "virtualization_mode", "", "None");
  rows.leaf("Host VGPU Mode", "host_vgpu_mode", "", "N/A");
  rows.leaf("vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", "", "N/A");
  rows.close();
  rows.leaf("GPU Recovery Action", "gpu_recovery_action", "gpu_recovery_action", gpu.recovery);
  rows.section(Section::gsp);
  rows.leaf("GSP Firmware Version", "gsp_firmware_version", "", driver.version);
  rows.leaf("", "", "gsp.mode.current", "Enabled");
  rows.leaf("", "", "gsp.mode.default", "Enabled");
  rows.section(Section::none);
  rows.open("IBMNPU", "ibmnpu");
  rows.leaf("Relaxed Ordering Mode", "relaxed_ordering_mode", "", "N/A");
  rows.close();
}

void add_link(RowWriter& rows, const GpuView& gpu) {
  const auto number = [](int value) { return std::to_string(value); };
  rows.open("GPU Link Info", "pci_gpu_link_info");
  rows.open("PCIe Generation", "pcie_gen");
  rows.leaf("Max", "max_link_gen", "pcie.link.gen.max", number(gpu.part.gen_max));
  rows.leaf("Current", "current_link_gen", "pcie.link.gen.current", number(gpu.part.gen));
  rows.leaf("Device Current", "device_current_link_gen", "pcie.link.gen.gpucurrent",
            number(gpu.part.gen));
  rows.leaf("Device Max", "max_device_link_gen", "pcie.link.gen.gpumax", number(gpu.part.gen_max));
  rows.leaf("Host Max", "max_host_link_gen", "pcie.link.gen.hostmax", "N/A");
  rows.close();
  rows.open("Link Width", "link_widths");
  rows.leaf("Max", "max_link_width", "pcie.link.width.max", number(gpu.part.width_max) + "x").csv =
      number(gpu.part.width_max);
  rows.leaf("Current", "current_link_width", "pcie.link.width.current",
            number(gpu.part.width) + "x")
      .csv = number(gpu.part.width);
  rows.close();
  rows.close();
}

void add_pci(RowWriter& rows, const DriverView&, const GpuView& gpu) {
  const auto address = gpu.bus_id();
  const auto numbered = [&](std::string label, std::string tag, std::string field,
                            std::string digits) {
    rows.leaf(std::move(label), std::move(tag), std::move(field), "0x" + digits).xml = digits;
  };
  rows.open("PCI", "pci");
  numbered("Bus", "pci_bus", "pci.bus", address.substr(9, 2));
  numbered("Device", "pci_device", "pci.device", address.substr(12, 2));
  numbered("Domain", "pci_domain", "pci.domain", address.substr(4, 4));
  numbered("Base Classcode", "pci_base_class", "pci.baseClass", "3");
  numbered("Sub Classcode", "pci_sub_class", "pci.subClass", "2");
  numbered("Device Id", "pci_device_id", "pci.device_id", std::string{gpu.model.device} + "10DE");
  rows.leaf("Bus Id", "pci_bus_id", "pci.bus_id", address);
  numbered("Sub System Id", "pci_sub_system_id", "pci.sub_device_id",
           std::string{gpu.model.subsystem} + "10DE");
  add_link(rows, gpu);
  rows.open("Bridge Chip", "pci_bridge_chip");
  rows.leaf("Type", "bridge_chip_type", "", "N/A");
  rows.leaf("Firmware", "bridge_chip_fw", "", "N/A");
  rows.close();
  rows.leaf("Replays Since Reset", "replay_counter", "", std::to_string(gpu.pcie_replays));
  rows.leaf("Replay Number Rollovers", "replay_rollover_counter", "",
            std::to_string(gpu.pcie_rollovers));
  rows.leaf("Tx Throughput", "tx_util", "", "0 KB/s");
  rows.leaf("Rx Throughput", "rx_util", "", "0 KB/s");
  rows.leaf("Atomic Caps Outbound", "atomic_caps_outbound", "",
            "FETCHADD_32 FETCHADD_64 SWAP_32 SWAP_64 CAS_32 CAS_64 ");
  rows.leaf("Atomic Caps Inbound", "atomic_caps_inbound", "", "N/A");
  rows.close();
}

void add_fields_alone(RowWriter& rows, const DriverView& driver, const GpuView& gpu) {
  rows.leaf("", "", "driver_version", driver.version);
  rows.leaf("", "", "count", std::to_string(driver.gpus.size()));
  rows.leaf("", "", "index", std::to_string(gpu.index));
  rows.leaf("", "", "compute_cap", std::string{gpu.model.compute});
  rows.leaf("", "", "hostname", "N/A");
  for (const auto* unsupported :
       {"vgpu_driver_capability.heterogenous_multivGPU",
        "vgpu_device_capability.fractional_multiVgpu",
        "vgpu_device_capability.heterogeneous_timeSlice_profile",
        "vgpu_device_capability.heterogeneous_timeSlice_sizes",
        "vgpu_device_capability.homogeneous_placements", "vgpu_device_capability.mig_timeSlicing",
        "vgpu_device_capability.mig_timeSlicing_mode"})
    rows.leaf("", "", unsupported, "N/A");
}

}  // namespace

std::span<const AddRows> identity_parts() {
  static constexpr std::array<AddRows, 5> kParts{add_fields_alone, add_name, add_numbers,
                                                 add_firmware, add_pci};
  return kParts;
}

}  // namespace cupel::rehearsal
