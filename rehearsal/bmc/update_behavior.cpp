#include "rehearsal/bmc/update_behavior.h"

#include <algorithm>
#include <array>

namespace cupel::rehearsal {
namespace {

constexpr std::array<std::string_view, 3> kAmiProtocols{"HTTP", "FTP", "HTTPS"};
constexpr std::array<std::string_view, 5> kDellProtocols{"HTTP", "NFS", "CIFS", "TFTP", "HTTPS"};
constexpr std::array<std::string_view, 2> kHpeProtocols{"HTTP", "HTTPS"};
constexpr std::array<std::string_view, 4> kLenovoProtocols{"TFTP", "SFTP", "HTTPS", "HTTP"};
constexpr std::array<std::string_view, 3> kSupermicroProtocols{"HTTP", "HTTPS", "FTP"};

/// As captured: a DGX H100's motherboard tray, then its GPU tray.
constexpr auto kDgxBoards = std::to_array<BoardPart>({
    {"CPLDMID_0", 1, 0, "0.2.1.1"},
    {"EROT_BIOS_0", 1, 0, "00.04.0026.0000_n00"},
    {"EROT_BMC_0", 1, 0, "00.04.0026.0000_n00"},
    {"PCIeRetimer_{n}", 2, 0, "2.07.19"},
    {"PCIeSwitch_{n}", 2, 0, "0.0.7"},
    {"HGX_FW_BMC_0", 1, 0, "HGX-22.10-1-rc57"},
    {"HGX_FW_ERoT_BMC_0", 1, 0, "00.02.0150.0000_n00"},
    {"HGX_FW_ERoT_FPGA_0", 1, 0, "00.02.0150.0000_n00"},
    {"HGX_FW_ERoT_GPU_SXM_{n}", 8, 1, "00.02.0150.0000_n00"},
    {"HGX_FW_ERoT_NVSwitch_{n}", 4, 0, "00.02.0150.0000_n00"},
    {"HGX_FW_ERoT_PCIeSwitch_0", 1, 0, "00.02.0150.0000_n00"},
    {"HGX_FW_FPGA_0", 1, 0, "2.37"},
    {"HGX_FW_NVSwitch_{n}", 4, 0, "96.10.4A.00.01"},
    {"HGX_FW_PCIeRetimer_{n}", 8, 0, "2.7.20"},
    {"HGX_FW_PCIeSwitch_0", 1, 0, "1.7.5F"},
});

/// As captured: a GB200's compute tray.
constexpr auto kOpenbmcBoards = std::to_array<BoardPart>({
    {"FW_ERoT_BMC_0", 1, 0, "01.03.0262.0000_n04"},
    {"CX7_{n}", 2, 0, "28.42.1234"},
    {"HGX_FW_BMC_0", 1, 0, "GB200Nvl-24.12-8"},
    {"HGX_FW_CPLD_0", 1, 0, "0.1C"},
    {"HGX_FW_CPU_{n}", 2, 0, "02.03.13"},
    {"HGX_FW_ERoT_BMC_0", 1, 0, "01.03.0262.0000_n04"},
    {"HGX_FW_ERoT_CPU_{n}", 2, 0, "01.03.0262.0000_n04"},
    {"HGX_FW_ERoT_FPGA_{n}", 2, 0, "01.03.0262.0000_n04"},
    {"HGX_FW_FPGA_{n}", 2, 0, "1.1C"},
});

/// As captured: the BMC's side of a BlueField-3.
constexpr auto kBluefieldBoards = std::to_array<BoardPart>({
    {"Bluefield_FW_ERoT", 1, 0, "00.02.0182.0000_n02"},
    {"DPU_NIC", 1, 0, "32.38.1002"},
    {"DPU_ATF", 1, 0, "v2.2(release):4.5.0-36-g3ab007f"},
});

constexpr std::array<std::string_view, 2> kTsmParameters{"FlashType", "UploadSelector"};
constexpr std::array<std::string_view, 1> kImageType{"ImageType"};

constexpr std::string_view kStandardAction =
    "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate";
constexpr std::string_view kAmiAction = "/redfish/v1/UpdateService/Actions/SimpleUpdate";

/// What was written to the BMC runs after its next restart, which somebody must ask for, and the
/// baseboard's only once the host's power was gone (NVIDIA, DGX H100 firmware update guide).
constexpr UpdateBehavior kDgx{.vendor = "dgx",
                              .simple = kAmiAction,
                              .multipart = "/redfish/v1/UpdateService/upload",
                              .protocols = kAmiProtocols,
                              .action_info = true,
                              .wants_protocol = true,
                              .most_image = 419627008,
                              .keeps_newer = true,
                              .task_type = "#Task.v1_4_2.Task",
                              .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                              .failed_status = "OK",  // as captured
                              .times = {.write_bmc = VirtualTime{480}},
                              .bmc = Activation::bmc_restart,
                              .boards = kDgxBoards,
                              .tray = "HGX_0",
                              .tray_prefix = "HGX_",
                              .tray_apart = true};

constexpr UpdateBehavior kDell{.vendor = "dell",
                               .service_type = "#UpdateService.v1_9_0.UpdateService",
                               .simple = kStandardAction,
                               .multipart = "/redfish/v1/UpdateService/MultipartUpload",
                               .push = "/redfish/v1/UpdateService/FirmwareInventory",
                               .protocols = kDellProtocols,
                               .refuses_chunked = true,
                               .stores_pushed = true,
                               .queues_behind_lc = true,
                               .task_type = "#Task.v1_4_3.Task",
                               .first_state = "New",
                               .bios_waits = true,
                               .forgets_tasks = true,
                               .cpld = Activation::host_reset,
                               .names = {.bmc = "Installed-25227-{v}__iDRAC.Embedded.1-1",
                                         .bios = "Installed-159-{v}__BIOS.Setup.1-1",
                                         .cpld = "Installed-27763-{v}__CPLD.Embedded.1",
                                         .gpu = "Installed-0-{v}__Video.Slot.{n}-1",
                                         .psu = "Installed-108076-{v}__PSU.Slot.{n}",
                                         .first_psu = 1,
                                         .software = "1_4_0",
                                         .spare_bmc = "Previous-25227-{v}__iDRAC.Embedded.1-1",
                                         .spare_version = "5.10.50.00"}};

/// An iLO tells in its own part of the service how far it is, and has no task for it.
constexpr UpdateBehavior kHpe{.vendor = "hpe",
                              .service_type = "#UpdateService.v1_2_1.UpdateService",
                              .simple = kStandardAction,
                              .push = "/cgi-bin/uploadFile",
                              .protocols = kHpeProtocols,
                              .by_cookie = true,
                              .has_task = false,
                              .forgets_tasks = true,
                              .cpld = Activation::host_reset,
                              .names = {.bmc = "1",
                                        .bios = "2",
                                        .cpld = "3",
                                        .gpu = "{n}",
                                        .psu = "{n}",
                                        .first_gpu = 4,
                                        .first_psu = 12,
                                        .software = "1_2_0"}};

constexpr UpdateBehavior ilo5() {
  auto row = kHpe;
  row.vendor = "hpe-ilo5";
  return row;
}

constexpr UpdateBehavior kLenovo{.vendor = "lenovo",
                                 .simple = kStandardAction,
                                 .multipart = "/mfwupdate",
                                 .push = "/fwupdate",
                                 .protocols = kLenovoProtocols,
                                 .action_info = true,
                                 .claims = true,
                                 .task_type = "#Task.v1_4_3.Task",
                                 .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                                 .monitor_deletes = true,
                                 .names = {.bmc = "BMC-Primary",
                                           .bios = "UEFI",
                                           .cpld = "FPGA",
                                           .gpu = "GPU{n}",
                                           .psu = "PSU{n}",
                                           .first_psu = 1,
                                           .software = "1_5_0",
                                           .spare_bmc = "BMC-Backup",
                                           .spare_version = "TGBT40E-2.60"}};

constexpr UpdateBehavior kSupermicro{.vendor = "supermicro",
                                     .service_type = "#UpdateService.v1_8_4.UpdateService",
                                     .simple = kStandardAction,
                                     .multipart = "/redfish/v1/UpdateService/upload",
                                     .protocols = kSupermicroProtocols,
                                     .action_info = true,
                                     .busy = BusyReply::not_allowed,
                                     .accepts_by_message = true,
                                     .starts_by_action = true,
                                     .task_type = "#Task.v1_4_3.Task",
                                     .monitor = "/redfish/v1/TaskMonitor/{id}",
                                     .full_before_done = true,
                                     .version_lag = VirtualTime{300},
                                     .cpld = Activation::host_off,
                                     .names = {.bmc = "BMC",
                                               .bios = "BIOS",
                                               .cpld = "CPLD_Motherboard",
                                               .psu = "PowerSupply{n}",
                                               .first_psu = 1,
                                               .software = "1_3_0",
                                               .spare_bmc = "Backup_BMC",
                                               .spare_version = "01.00.05"}};

constexpr UpdateBehavior kAmi{.vendor = "ami",
                              .service_type = "#UpdateService.v1_8_4.UpdateService",
                              .simple = kAmiAction,
                              .multipart = "/redfish/v1/UpdateService/upload",
                              .protocols = kAmiProtocols,
                              .action_info = true,
                              .wants_protocol = true,
                              .oem_parameters = kImageType,
                              .task_type = "#Task.v1_4_1.Task",
                              .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                              .locks_while_flashing = true,
                              .times = {.write_bmc = VirtualTime{360}},
                              .names = {.bmc = "BMC",
                                        .bios = "BIOS",
                                        .cpld = "MB_CPLD1",
                                        .gpu = "GPU{n}",
                                        .psu = "PSU{n}",
                                        .first_psu = 1,
                                        .software = "1_2_1"}};

constexpr UpdateBehavior kOpenbmc{.vendor = "openbmc",
                                  .multipart = "/redfish/v1/UpdateService/update-multipart",
                                  .push = "/redfish/v1/UpdateService/update",
                                  .most_image = 209715200,
                                  .most_targets = 1,
                                  .busy = BusyReply::unavailable,
                                  .checks_at_once = true,
                                  .stages = true,
                                  .keeps_newer = true,
                                  .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                                  .first_state = "Running",
                                  .failed_status = "Warning",
                                  .forgets_tasks = true,
                                  .bmc = Activation::own_restart,
                                  .gpu = Activation::ac_cycle,
                                  .names = {.bmc = "FW_BMC_0",
                                            .bios = "UEFI",
                                            .cpld = "FW_CPLD_0",
                                            .gpu = "HGX_FW_GPU_{n}",
                                            .psu = "PDB_{n}",
                                            .first_gpu = 0,
                                            .software = "1_4_0"},
                                  .boards = kOpenbmcBoards,
                                  .tray = "HGX_0",
                                  .tray_prefix = "HGX_"};

/// Lenovo's ThinkSystem Manager, on MegaRAC: SR635, SR655 (lists of Targets and OemParameters).
constexpr UpdateBehavior lenovo_tsm() {
  auto row = kAmi;
  row.vendor = "lenovo-tsm";
  row.oem_parameters = kTsmParameters;
  row.boots_with_400 = true;
  return row;
}

/// The BMC of a BlueField-3: bmcweb, and nothing of it runs before the board's standby power was
/// gone.
constexpr UpdateBehavior bluefield() {
  auto row = kOpenbmc;
  row.vendor = "bluefield";
  row.service_type = "#UpdateService.v1_8_0.UpdateService";
  row.keeps_newer = false;
  row.bmc = row.bios = row.cpld = row.gpu = row.psu = Activation::ac_cycle;
  row.names.bmc = "BMC_Firmware";
  row.names.bios = "DPU_UEFI";
  row.boards = kBluefieldBoards;
  row.tray = row.tray_prefix = {};
  return row;
}

constexpr std::array kRows{kDgx,        kDell, kHpe,     ilo5(),       kLenovo,
                           kSupermicro, kAmi,  kOpenbmc, lenovo_tsm(), bluefield()};

}  // namespace

std::vector<std::string_view> update_behaviors() {
  std::vector<std::string_view> names;
  for (const auto& row : kRows) names.push_back(row.vendor);
  return names;
}

const UpdateBehavior& update_behavior_of(std::string_view vendor) {
  const auto row = std::ranges::find(kRows, vendor, &UpdateBehavior::vendor);
  return row == kRows.end() ? kRows.front() : *row;
}

}  // namespace cupel::rehearsal
