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
                              .task_type = "#Task.v1_4_2.Task",
                              .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                              .failed_status = "OK",  // as captured
                              .times = {.write_bmc = VirtualTime{480}},
                              .bmc = Activation::bmc_restart};

constexpr UpdateBehavior kDell{.vendor = "dell",
                               .service_type = "#UpdateService.v1_9_0.UpdateService",
                               .simple = kStandardAction,
                               .multipart = "/redfish/v1/UpdateService/MultipartUpload",
                               .push = "/redfish/v1/UpdateService/FirmwareInventory",
                               .protocols = kDellProtocols,
                               .refuses_chunked = true,
                               .stores_pushed = true,
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
                              .wants_image_type = true,
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
                                  .monitor = "/redfish/v1/TaskService/TaskMonitors/{id}",
                                  .first_state = "Running",
                                  .forgets_tasks = true,
                                  .bmc = Activation::bmc_restart,
                                  .gpu = Activation::ac_cycle,
                                  .names = {.bmc = "FW_BMC_0",
                                            .bios = "UEFI",
                                            .cpld = "FW_CPLD_0",
                                            .gpu = "HGX_FW_GPU_{n}",
                                            .psu = "PDB_{n}",
                                            .first_gpu = 0,
                                            .software = "1_4_0"}};

constexpr std::array kRows{kDgx, kDell, kHpe, ilo5(), kLenovo, kSupermicro, kAmi, kOpenbmc};

}  // namespace

const UpdateBehavior& update_behavior_of(std::string_view vendor) {
  const auto row = std::ranges::find(kRows, vendor, &UpdateBehavior::vendor);
  return row == kRows.end() ? kRows.front() : *row;
}

}  // namespace cupel::rehearsal
