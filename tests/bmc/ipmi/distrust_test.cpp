// What is reported outside of any session proves nothing: who says it could be anybody.
#include "bmc/ipmi/client.h"
#include "tests/bmc/ipmi/fixture.h"
#include "tests/bmc/ipmi/scripted_bmc.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Reply is_on(std::uint8_t, std::uint8_t, View) { return {0, {0x01, 0, 0}}; }

/// One process after the other, with what they remember.
class Distrust : public WithTransport {
 protected:
  Result<Sourced<PowerState>> power(const ScriptedBmc& machine, std::optional<int> cipher = {}) {
    AllBmcLimits all_bmc_limits{&memory};
    Transport process{io.get_executor(), &all_bmc_limits};
    const auto bmc = open(process, "a01-n01", {.endpoint = machine.endpoint(), .cipher = cipher},
                          "admin", password.source());
    auto state = run(bmc->power.state(soon()));
    run(bmc->log_out());
    return state;
  }

  InMemoryBmcState memory;
};

TEST_F(Distrust, NeverFallsBackToAWeakerSuiteOnceTheBmcSpokeSuite17) {
  ScriptedBmc strong{io.get_executor(), kSuite17, is_on};
  ScriptedBmc weak{io.get_executor(), kSuite3, is_on};
  ASSERT_TRUE(power(strong));

  const auto refused = power(weak);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  EXPECT_THAT(refused.error().what, HasSubstr("it spoke cipher suite 17 before"));
  EXPECT_EQ(weak.handshakes, 1);
  EXPECT_TRUE(power(weak, 3)) << "a person named it";
}

TEST_F(Distrust, TakesSuite3OfABmcThatNeverSpoke17) {
  ScriptedBmc weak{io.get_executor(), kSuite3, is_on};

  EXPECT_TRUE(power(weak));
  EXPECT_TRUE(power(weak));
}

TEST_F(Distrust, HearsARefusalThatNamesNoSessionTwiceBeforeItIsRemembered) {
  ScriptedBmc machine{io.get_executor(), kSuite17, is_on};
  machine.short_refusals = 1;

  EXPECT_TRUE(power(machine)) << "somebody else sent it";
  EXPECT_FALSE(memory.refusal("a01-n01", "admin"));

  machine.short_refusals = 2;
  const auto refused = power(machine);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_TRUE(memory.refusal("a01-n01", "admin"));
}

TEST_F(Distrust, NamesWhatEachSuiteWasRefusedWith) {
  ScriptedBmc machine{io.get_executor(), kSuite17, is_on};
  machine.rakp2_status = 0x12;

  const auto refused = power(machine);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("cipher suite 17: RAKP Message 1: illegal"));
  EXPECT_THAT(refused.error().what, HasSubstr("cipher suite 3: Open Session: no cipher suite"));
}

TEST_F(Distrust, ShowsNoPasswordThatStandsInAReply) {
  ScriptedBmc machine{io.get_executor(), kSuite17, [](auto, std::uint8_t code, View) {
                        const std::string name = "x" + std::string{IpmiSim::kPassword};
                        Bytes bytes{name.begin(), name.end()};
                        bytes.resize(16);
                        return code == 0x46 ? Reply{0, bytes} : Reply{0, {0x01, 0x01, 0x01, 0x14}};
                      }};
  const auto bmc = open_at(machine.endpoint());

  const auto accounts = run(bmc->accounts.read(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(accounts) << accounts.error().what;
  ASSERT_EQ(accounts->value.size(), 1);
  EXPECT_EQ(accounts->value[0].user,
            "x" + std::string(std::string_view{IpmiSim::kPassword}.size(), '*'));
}

}  // namespace
}  // namespace cupel::bmc::ipmi
