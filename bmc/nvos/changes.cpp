#include "bmc/nvos/changes.h"

#include "base/base64.h"

namespace cupel::bmc::nvos {
namespace {

std::string app_path(std::string_view name) { return "cluster/apps/" + path_word(name); }

}  // namespace

Task<Result<Applied>> set_cluster(Nvue& nvue, bool on, Pace pace, Deadline deadline) {
  std::vector<Change> changes;
  changes.push_back({"cluster", json::object{{"state", on ? "enabled" : "disabled"}}});
  return apply_changes(nvue, std::move(changes), pace.look_every, deadline);
}

Task<Result<ActEnd>> start_app(Nvue& nvue, std::string name, Pace pace, Deadline deadline) {
  return run_act(nvue, {.path = app_path(name), .verb = "@start"}, pace.look_every, deadline);
}

Task<Result<ActEnd>> stop_app(Nvue& nvue, std::string name, Pace pace, Deadline deadline) {
  return run_act(nvue, {.path = app_path(name), .verb = "@stop"}, pace.look_every, deadline);
}

Task<Result<ActEnd>> open_manager_port(Nvue& nvue, std::string name, Pace pace, Deadline deadline) {
  return run_act(nvue,
                 {.path = app_path(name) + "/manager",
                  .verb = "@update",
                  .parameters = {{"state", "enabled"}}},
                 pace.look_every, deadline);
}

Task<Result<ActEnd>> fetch_image(Nvue& nvue, std::string url, Pace pace, Deadline deadline) {
  return run_act(nvue,
                 {.path = "system/image", .verb = "@fetch", .parameters = {{"remote-url", url}}},
                 pace.look_every, deadline);
}

Task<Result<ActEnd>> install_image(Nvue& nvue, std::string file, bool reboot, Pace pace,
                                   Deadline deadline) {
  return run_act(nvue,
                 {.path = "system/image/files/" + path_word(file),
                  .verb = "@install",
                  .parameters = {{"force", true}, {"reboot", reboot}},
                  .kind = ActionKind::image},
                 pace.look_every, deadline);
}

Task<Result<ActEnd>> install_firmware(Nvue& nvue, std::string component, std::string file,
                                      Pace pace, Deadline deadline) {
  return run_act(nvue,
                 {.path = "platform/firmware/" + path_word(component) + "/files/" + path_word(file),
                  .verb = "@install",
                  .parameters = {{"force", true}, {"skip-reboot", true}},
                  .kind = ActionKind::firmware},
                 pace.look_every, deadline);
}

Task<Result<Applied>> set_password(Nvue& as_old, Nvue& as_new, std::string user,
                                   std::string password, Pace pace, Deadline deadline) {
  std::vector<Change> changes;
  changes.push_back(
      {"system/aaa/user/" + path_word(user), json::object{{"password", base64(password)}}});
  return apply_changes(as_old, std::move(changes), pace.look_every, deadline, &as_new);
}

}  // namespace cupel::bmc::nvos
