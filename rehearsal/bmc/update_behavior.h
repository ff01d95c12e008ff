#pragma once
// How the BMCs of different vendors take new firmware, as a virtual BMC plays them: one row each.
// Data only: what a column means is done in updates.h and update_changes.cpp. URIs and words follow
// captured machines (UpdateService, its ActionInfo, tasks); behaviour follows what users reported.
#include <span>
#include <string_view>
#include <vector>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

/// What the machine is made of, as far as it has firmware of its own.
enum class FirmwareKind { bmc, bios, cpld, gpu, psu, other };

/// When what was written becomes what runs.
enum class Activation {
  at_once,
  bmc_restart,  // somebody restarts the BMC
  own_restart,  // the BMC restarts itself as soon as it is written
  host_reset,   // the host's next self-test
  host_off,     // the host loses its power
  ac_cycle,     // the standby power goes too
};

/// Under which id a kind of component is listed. {v} stands for its version, {n} for the number of
/// the part that it belongs to, counted from `first`.
struct FirmwareNames {
  std::string_view bmc = "HostBMC_0", bios = "HostBIOS_0", cpld = "CPLDMB_0";
  std::string_view gpu = "HGX_FW_GPU_SXM_{n}", psu = "PSU_{n}";
  int first_gpu = 1, first_psu = 0;
  std::string_view software = "1_2_3";  // version of the schema SoftwareInventory
  /// Id and version of a second copy that is not what runs; empty: there is none.
  std::string_view spare_bmc{}, spare_version{};
};

/// What the boards of one vendor have more of, so many of it; {n} stands for each one's number.
struct BoardPart {
  std::string_view name;
  int count = 1, first = 0;
  std::string_view version;
};

/// How an update is refused while another one runs.
enum class BusyReply {
  bad_request,  // 400, Update.1.0.UpdateInProgress
  unavailable,  // 503 and Retry-After (bmcweb)
  not_allowed,  // 405, OemFirmwareAlreadyInUpdateMode (Supermicro)
};

/// How long what takes, in the rack's time.
struct UpdateTimes {
  VirtualTime transfer{20};  // from an image's URI
  VirtualTime verify{15};
  VirtualTime write_bmc{240}, write_bios{180}, write_other{90};
};

struct UpdateBehavior {
  std::string_view vendor{};
  std::string_view service_type = "#UpdateService.v1_11_0.UpdateService";
  /// Targets of POSTs; empty: there is none of that kind.
  std::string_view simple{};     // UpdateService.SimpleUpdate
  std::string_view multipart{};  // MultipartHttpPushUri
  std::string_view push{};       // HttpPushUri: the body is the image, or a form with it
  std::span<const std::string_view> protocols{};
  bool action_info = false;     // SimpleUpdate's parameters stand there, not inline
  bool wants_protocol = false;  // SimpleUpdate without TransferProtocol is refused
  /// What a form's OemParameters must say (MegaRAC).
  std::span<const std::string_view> oem_parameters{};
  bool refuses_chunked = false;  // an upload without a Content-Length fails (iDRAC)
  bool stores_pushed = false;  // what was pushed lies in the inventory until SimpleUpdate names it
  std::size_t most_image = 512u << 20;  // bytes
  std::size_t most_targets = 64;        // more are PropertyValueFormatError
  BusyReply busy = BusyReply::bad_request;
  bool checks_at_once =
      false;                 // a bad image, and one that runs already, is refused with its upload
  bool stages = false;       // OperationApplyTime is OnReset where nobody says Immediate
  bool keeps_newer = false;  // a downgrade is refused without ForceUpdate
  bool boots_with_400 = false;      // uploads are 400 until the BMC has booted (TSM)
  bool queues_behind_lc = false;    // a job waits while the Lifecycle Controller is in use (iDRAC)
  bool accepts_by_message = false;  // the task's URI is an argument of the message (Supermicro)
  bool claims = false;              // raw pushes want HttpPushUriTargetsBusy to be set first (XCC)
  bool starts_by_action = false;    // an upload is verified by one task, installed by another (SMC)
  bool by_cookie = false;           // the pushed form's session is a cookie (iLO)

  /// Where progress is reported: a Task, or the vendor's own part of the UpdateService (iLO).
  bool has_task = true;
  std::string_view task_type = "#Task.v1_5_1.Task";
  /// Path of a task's monitor with {id}; empty: the task itself is what Location says.
  std::string_view monitor{};
  bool monitor_deletes = false;  // a GET of it forgets a finished task (XCC)
  std::string_view first_state = "Starting";
  std::string_view failed_state = "Exception", failed_status = "Critical";
  bool bios_waits = false;            // the BIOS is written by a job at the next boot (iDRAC)
  bool full_before_done = false;      // PercentComplete is 100 while it still runs (SMC)
  bool forgets_tasks = false;         // a restart of the BMC loses them
  bool locks_while_flashing = false;  // 401 for everything while its own firmware is written
  VirtualTime version_lag{0};         // of the inventory behind what runs
  UpdateTimes times{};
  Activation bmc = Activation::own_restart, bios = Activation::host_reset,
             cpld = Activation::ac_cycle, gpu = Activation::host_off, psu = Activation::at_once;
  FirmwareNames names{};
  std::span<const BoardPart> boards{};
  /// Components that are called so are a tray of their own; empty: there is none. As a target,
  /// `tray` stands for all of them; `tray_apart`: without a target, none of them is written.
  std::string_view tray{}, tray_prefix{};
  bool tray_apart = false;
};

/// The names of all rows: those of vendor_behavior.h, and some that a BMC's `updates` names.
std::vector<std::string_view> update_behaviors();
/// The row of that vendor; that of a DGX where there is none.
const UpdateBehavior& update_behavior_of(std::string_view vendor);

}  // namespace cupel::rehearsal
