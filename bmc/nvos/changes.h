#pragma once
// What is changed on an NVLink switch, by its documented paths. Each does one thing, and says what
// it found so already; none decides whether it may be done: NMX on two switches, an update under
// load and the like are for whoever calls. Source: NVOS User Manual, NVUE API.
#include "bmc/nvos/action.h"
#include "bmc/nvos/revision.h"

namespace cupel::bmc::nvos {

struct Pace {
  std::chrono::milliseconds look_every{2000};  // while a change or an act is under way
};

/// Errors of all: as apply_changes() or run_act().

/// Turns the cluster on or off.
Task<Result<Applied>> set_cluster(Nvue& nvue, bool on, Pace pace, Deadline deadline);
/// Starts or stops an application of the cluster.
Task<Result<ActEnd>> start_app(Nvue& nvue, std::string name, Pace pace, Deadline deadline);
Task<Result<ActEnd>> stop_app(Nvue& nvue, std::string name, Pace pace, Deadline deadline);
/// Opens an application's port for its manager; the cluster must be on.
Task<Result<ActEnd>> open_manager_port(Nvue& nvue, std::string name, Pace pace, Deadline deadline);
/// Fetches an image from a URL that the switch can reach.
Task<Result<ActEnd>> fetch_image(Nvue& nvue, std::string url, Pace pace, Deadline deadline);
/// Installs an image that it has. ActEnd::reboots: read the images when it is back.
Task<Result<ActEnd>> install_image(Nvue& nvue, std::string file, bool reboot, Pace pace,
                                   Deadline deadline);
/// Installs firmware of a component ("BMC", "ASIC1"). It can turn the next reboot into a power
/// cycle.
Task<Result<ActEnd>> install_firmware(Nvue& nvue, std::string component, std::string file,
                                      Pace pace, Deadline deadline);
/// Sets a user's password. `as_new` has it already and follows the change; `as_old` is not used
/// once it was sent off.
Task<Result<Applied>> set_password(Nvue& as_old, Nvue& as_new, std::string user,
                                   std::string password, Pace pace, Deadline deadline);

}  // namespace cupel::bmc::nvos
