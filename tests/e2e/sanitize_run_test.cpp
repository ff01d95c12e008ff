// `cupel run sanitize` on a virtual rack, to the certificate of each drive, also where the
// controller is killed in the middle of the erase.
#include <future>
#include <map>

#include "base/signature.h"
#include "orchestrator/store/store.h"
#include "rehearsal/drive_erase.h"
#include "rehearsal/machine.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using namespace std::chrono_literals;
using rehearsal::DriveErase;

// Made by `openssl genpkey -algorithm ed25519`, for these tests alone.
constexpr std::string_view kSigningKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEICeOjp0m7gV4L/SulfZSXry24GTfI4CND75w8G138a9a\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kNode = "v01-n01";

/// A drive as the rack has it.
struct VirtualDrive {
  std::string serial{};
  DriveErase erase{};
};

class SanitizeRun : public ::testing::Test {
 protected:
  void start(const std::string& faults = {}) {
    site = std::make_unique<RackSite>(
        RackSite::Options{.nodes = 1, .network = 98, .faults = faults, .speed = 60});
    site->write("site.key", std::string{kSigningKey});
    site->write("site.pub", public_key_of(kSigningKey).value());
    ASSERT_EQ(site->run({"bmc", kNode, "power", "on"}).status, 0);
  }

  /// The drive with that number, once `change` has been done to its erase.
  VirtualDrive drive(std::size_t number, std::function<void(DriveErase&)> change = {}) {
    const auto answer = std::make_shared<std::promise<VirtualDrive>>();
    auto drive = answer->get_future();
    site->rack().post(kNode, [number, change, answer](rehearsal::Machine& machine) {
      const auto serial = machine.hardware().drives.at(number).serial;
      auto& erase = machine.drive_erases()[serial];
      if (change) change(erase);
      answer->set_value({serial, erase});
    });
    if (drive.wait_for(60s) != std::future_status::ready) throw std::runtime_error{"no rack"};
    return drive.get();
  }

  /// `limit`: the node's time runs 60 times faster than ours.
  std::vector<std::string> erase_command() const {
    return site->cupel({"run", "sanitize", "--nodes", "all", "--json", "--no-console", "--set",
                        "erase=yes", "--set", "drives=nvme1,nvme2", "--set", "limit=72h"});
  }
  /// Within a few looks at the drive's own log.
  bool is_seen_erasing(const std::string& drive) const {
    const auto end = Deadline::in(5min);
    while (!end.passed()) {
      const auto log = site->run({"exec", kNode, "--", "nvme sanitize-log /dev/" + drive});
      if (log.out.find("(SSTAT) :  0x2") != std::string::npos) return true;
    }
    return false;
  }
  /// Of the run: each has a handle of its own in the journal.
  std::ptrdiff_t jobs_started() const {
    const auto store = store::Store::open(site->file("state"));
    if (!store) return 0;
    const auto events = (*store)->events(1);
    if (!events) return 0;
    return std::ranges::count_if(*events, [](const auto& event) {
      return event.kind == engine::EventKind::step_started && event.step == "sanitize";
    });
  }

  /// What `cupel verify` reads in the certificate of the node.
  json::object certified() const {
    const auto issued = site->run({"certificate", kNode, "--key", "site.key"});
    EXPECT_EQ(issued.status, 0) << issued.out << issued.err;
    const auto checked =
        site->run({"verify", std::string{kNode} + ".certificate", "--key", "site.pub", "--json"});
    EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
    const auto lines = json_lines(checked.out);
    return lines.size() == 1 ? lines[0].at("nodes").at(0).as_object() : json::object{};
  }
  /// By serial number: "erased, Purge, nvme sanitize --sanact=4".
  static std::map<std::string, std::string> media_in(const json::object& node) {
    std::map<std::string, std::string> all;
    for (const auto& each : node.at("media").as_array()) {
      const auto word = [&](const char* key) { return std::string{each.at(key).as_string()}; };
      const bool erased = word("result") == "erased";
      all[word("serial")] =
          word("result") + ", " + (erased ? word("method") + ", " + word("tool") : word("why"));
    }
    return all;
  }

  std::unique_ptr<RackSite> site;
};

constexpr const char* kPurged = "erased, Purge, nvme sanitize --sanact=4";

TEST_F(SanitizeRun, EndsInACertificateOfEachDriveBySerialNumberAlsoOfTheOneThatFailed) {
  start("{node: v01-n01, fault: nvme-sanitize-fails, part: nvme2}");

  const auto ran = run(erase_command(), {}, 400s);

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto node = certified();
  EXPECT_EQ(node.at("verdict"), "fail");
  EXPECT_EQ(media_in(node),
            (std::map<std::string, std::string>{
                {drive(1).serial, kPurged},
                {drive(2).serial,
                 "failed, the drive reports that its sanitize failed, and gives out no data until "
                 "one succeeds"}}));
}

TEST_F(SanitizeRun, ThatIsKilledTwiceInTheMiddleGoesOnWithTheSameEraseToTheCertificate) {
  start();
  for (const std::size_t number : {1u, 2u})
    drive(number, [](DriveErase& erase) { erase.slower = 1e6; });
  Child first{erase_command()};
  ASSERT_TRUE(first.wait_for("\"step-started\"", 120s));
  ASSERT_TRUE(is_seen_erasing("nvme1") && is_seen_erasing("nvme2"));
  const auto began = drive(1).erase.began;
  first.signal(SIGKILL);
  first.wait();
  {
    Child second{site->cupel({"resume", "1", "--json", "--no-console"})};
    ASSERT_TRUE(second.wait_for("run-resumed"));
    second.signal(SIGKILL);
    second.wait();
  }

  Child third{site->cupel({"resume", "1", "--json", "--no-console"})};
  ASSERT_TRUE(third.wait_for("run-resumed"));
  for (const std::size_t number : {1u, 2u})
    drive(number, [](DriveErase& erase) { erase.takes = 1; });
  const auto ran = third.wait(400s);

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(drive(1).erase.began, began);
  EXPECT_EQ(jobs_started(), 1) << "another job was started beside the first";
  const auto node = certified();
  EXPECT_EQ(node.at("verdict"), "pass");
  EXPECT_EQ(media_in(node), (std::map<std::string, std::string>{{drive(1).serial, kPurged},
                                                                {drive(2).serial, kPurged}}));
}

}  // namespace
}  // namespace cupel::testing
