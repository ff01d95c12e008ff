#pragma once
// A BMC that gets new firmware, without sockets: what is uploaded, how far it is, what runs.
#include "rehearsal/bmc/update_request.h"
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::rehearsal {

inline constexpr const char* kInventory = "/redfish/v1/UpdateService/FirmwareInventory/";
inline constexpr const char* kService = "/redfish/v1/UpdateService";

inline constexpr const char* kAtOnce = R"({"@Redfish.OperationApplyTime":"Immediate"})";

/// A BMC whose machine is on, and an image for it.
class Updating : public BmcBench {
 public:
  explicit Updating(const std::string& vendor, std::vector<Fault> faults = {}, double speed = 5000)
      : BmcBench{BmcSpec{.vendor = vendor}, std::move(faults), speed} {
    boot();
  }
  explicit Updating(BmcSpec spec) : BmcBench{std::move(spec), {}, 5000} { boot(); }
  const UpdateBehavior& behavior() { return service.state().update_behavior; }

  /// An iLO has a whim now and then.
  HttpResponse insist(const std::string& method, const std::string& target,
                      const std::string& body = {},
                      const std::map<std::string, std::string>& headers = {}) {
    auto response = ask(method, target, body, headers);
    if (response.status == 401) response = ask(method, target, body, headers);
    return response;
  }
  /// As curl -F UpdateParameters=... -F UpdateFile=@... does.
  HttpResponse upload(const std::string& image, const std::string& parameters = "{}",
                      const std::string& oem = R"({"ImageType":"BIOS"})") {
    std::string body;
    const auto part = [&](const std::string& disposition, const std::string& type,
                          const std::string& text) {
      body += "--XyZ\r\nContent-Disposition: form-data; " + disposition +
              "\r\nContent-Type: " + type + "\r\n\r\n" + text + "\r\n";
    };
    part("name=\"UpdateParameters\"", "application/json", parameters);
    part("name=\"OemParameters\"", "application/json", oem);
    part("name=\"UpdateFile\"; filename=\"image.bin\"", "application/octet-stream", image);
    body += "--XyZ--\r\n";
    return insist("POST", std::string{behavior().multipart}, body,
                  {{"content-type", "multipart/form-data; boundary=XyZ"}});
  }
  HttpResponse simple(const std::string& uri) {
    const json::object body{{"ImageURI", uri}, {"TransferProtocol", "HTTPS"}};
    return insist("POST", std::string{behavior().simple}, json::serialize(body));
  }
  /// By whichever way this vendor has.
  HttpResponse update(const std::string& component, const std::string& version) {
    if (!behavior().simple.empty())
      return simple("https://repository.example/" + component + "_" + version + ".bin");
    return upload("virtual firmware\n" + component + " " + version + "\n", kAtOnce);
  }
  std::string version(const std::string& component) {
    for (const auto& one : components_of(view()))
      if (one.name == component) return one.version;
    return {};
  }
  const Update& last() { return service.state().updates.all().back(); }
  bool ends() {
    return run_until([&] { return last().is_over(); });
  }
  bool runs(const std::string& component, const std::string& expected) {
    return run_until([&] { return version(component) == expected; });
  }
  /// A job that waits for a boot gets one.
  void boot_for_job() {
    if (!behavior().bios_waits) return;
    run_until([&] { return last().stage == Update::Stage::scheduled; });
    boot();
  }
  std::string stage_of_task() { return seen(task(), "TaskState"); }
  /// Presses what the vendor has for it; false where it has nothing.
  bool cycle_ac() {
    const auto& ac = service.behavior().power.ac;
    if (ac.action.empty()) return false;
    const auto body = json::object{{"ResetType", ac.word}};
    return ask("POST", "/redfish/v1/" + std::string{ac.action}, json::serialize(body)).status < 300;
  }
  /// An image as one would make it for this machine.
  static std::string image(std::vector<Flash> contents, std::string model = {},
                           std::size_t size = 0) {
    std::string bytes;
    const auto made = write_image({std::move(contents), std::move(model), size},
                                  [&](std::string_view piece) { bytes += piece; });
    EXPECT_TRUE(made) << made.error().what;
    return bytes;
  }
  std::string task() { return "/redfish/v1/TaskService/Tasks/" + last().id; }
};

}  // namespace cupel::rehearsal
