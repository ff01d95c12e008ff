#include "bmc/verb.h"

#include <gmock/gmock.h>

#include "bmc/fallback_bmc.h"

namespace cupel::bmc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BareBmc final : public Bmc {
 public:
  Task<void> log_out() override { co_return; }
};

/// Has two verbs, and remembers what it was asked.
class TwoVerbBmc final : public Bmc {
 public:
  explicit TwoVerbBmc(Result<Protocol> answer) : answer_{std::move(answer)} {
    manager.enable_service.bind(this, &TwoVerbBmc::enable_service);
    accounts.change_password.bind(this, &TwoVerbBmc::change_password);
  }
  Task<void> log_out() override { co_return; }

  std::vector<std::string> asked{};

 private:
  Task<Result<Protocol>> enable_service(std::string name, bool enabled, Deadline) {
    asked.push_back(name + (enabled ? " on" : " off"));
    co_return answer_;
  }
  Task<Result<Protocol>> change_password(std::string user, std::string, Deadline) {
    asked.push_back("password of " + user);
    co_return answer_;
  }

  Result<Protocol> answer_;
};

class Verbs : public ::testing::Test {
 protected:
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  static Deadline soon() { return Deadline::in(std::chrono::minutes{1}); }

  asio::io_context io;
};

TEST_F(Verbs, EndWithUnsupportedAndTheirNameWhereNoDriverHasThem) {
  BareBmc bmc;

  const auto done = run(bmc.media.insert("http://10.0.0.1/a.iso", soon()));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_EQ(done.error().what, "insert media: not by this protocol");
}

TEST_F(Verbs, PassTheirArgumentsToTheDriver) {
  TwoVerbBmc bmc{Protocol::ipmi};

  const auto done = run(bmc.manager.enable_service("SSH", true, soon()));

  EXPECT_EQ(done, Protocol::ipmi);
  EXPECT_THAT(bmc.asked, ElementsAre("SSH on"));
}

TEST_F(Verbs, ReportBothReasonsWhereNeitherProtocolHasThem) {
  const auto bmc = first_of(std::make_unique<BareBmc>(), std::make_unique<BareBmc>());

  const auto done = run(bmc->media.eject(soon()));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_EQ(done.error().what,
            "by Redfish: eject media: not by this protocol; "
            "by IPMI: eject media: not by this protocol");
}

TEST_F(Verbs, ThatMustNotHappenTwiceAreNotAskedOfIpmiWhereRedfishBrokeOff) {
  auto redfish = std::make_unique<TwoVerbBmc>(Error{Code::kTimeout, "no answer"});
  auto ipmi = std::make_unique<TwoVerbBmc>(Protocol::ipmi);
  const auto& by_ipmi = ipmi->asked;
  const auto bmc = first_of(std::move(redfish), std::move(ipmi));

  const auto done = run(bmc->accounts.change_password("admin", "An0ther-Pl4n-S3cret", soon()));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kTimeout);
  EXPECT_THAT(by_ipmi, IsEmpty());
}

}  // namespace
}  // namespace cupel::bmc
