// Each rule of rehearsal/scenarios/quirks.yaml by itself, on a virtual BMC that it may be seen on:
// what a client asks it meanwhile ends as it should, where the step runner would have asked again
// too. Then all of them at once, on every vendor.
#include "inventory/shipped.h"
#include "rehearsal/scenario.h"
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

using rehearsal::Rule;

std::vector<Rule> rules_of_the_scenario() {
  const auto* file = inventory::shipped_file("rehearsal/scenarios/quirks.yaml");
  if (file == nullptr) return {};
  rehearsal::RackSpec rack{.name = "v01", .profile = "dgx-h100"};
  rack.nodes.push_back({.name = "n1", .bmc_address = {}, .ssh_address = {}});
  std::vector<inventory::Problem> problems;
  EXPECT_TRUE(rehearsal::parse_scenario(file->text, std::string{file->path}, rack, problems))
      << to_string(problems);
  return rack.nodes[0].rules;
}

/// What is asked of the BMC while it has the habit.
enum class Verb { tell_power, turn_on, look, boot_once, clock, log, sense };

struct Quirk {
  std::string_view note;  // how the rule's own begins
  Verb verb;
  std::string_view vendor = "dgx";
};

const std::vector<Quirk>& quirks() {
  using enum Verb;
  static const std::vector<Quirk> all{{"Dell iDRAC: no session", tell_power, "dell"},
                                      {"bmcweb: the login", tell_power, "openbmc"},
                                      {"any: a session cannot be ended", tell_power},
                                      {"any: busy after its start", tell_power},
                                      {"HPE iLO: the connection is reset", tell_power, "hpe"},
                                      {"any: the answer breaks off", tell_power},
                                      {"any: a request is swallowed", tell_power},
                                      {"bmcweb: everything takes long", look, "openbmc"},
                                      {"DGX H100: the list of its firmware", look},
                                      {"any: 503 without Retry-After", look},
                                      {"iDRAC: data sources", look, "dell"},
                                      {"Dell: 409 for what is so already", turn_on, "dell"},
                                      {"iDRAC10: not yet", turn_on, "dell"},
                                      {"Dell R650: accepts to power on", turn_on, "dell"},
                                      {"Huawei: success inside", turn_on, "ami"},
                                      {"any: the power state is told as nothing", turn_on},
                                      {"Lenovo XCC: a good ETag", boot_once, "lenovo"},
                                      {"HPE iLO: nothing can be changed", boot_once, "hpe"},
                                      {"AMI: a change is accepted", boot_once, "ami"},
                                      {"Cray: links", look},
                                      {"any: a UUID that is empty", look},
                                      {"any: a resource that is listed", look},
                                      {"GB200: the members", log, "dgx"},
                                      {"any: a date that was never set", clock},
                                      {"Lenovo: parts that have", look},
                                      {"HPE: a link that leads", look},
                                      {"BlueField: versions", look},
                                      {"any: MACs", look},
                                      {"iDRAC: two documents", look, "dell"},
                                      {"HPE iLO 5: lists of sensors", sense, "hpe-ilo5"}};
  return all;
}

void PrintTo(const Quirk& quirk, std::ostream* out) { *out << quirk.note; }

class Quirks : public ::testing::TestWithParam<Quirk> {
 protected:
  void become(std::string_view vendor) {
    server = std::make_unique<test::VirtualBmc>(std::string{vendor});
    password = server->password();
  }
  Task<Result<void>> ask(Bmc& bmc, Verb verb) {
    const auto deadline = Deadline::in(4s);  // so that a request that is swallowed ends soon
    switch (verb) {
      case Verb::tell_power: {
        CO_TRY(const auto reported, co_await bmc.power.state(deadline));
        EXPECT_EQ(reported.value, PowerState::off);
        break;
      }
      case Verb::turn_on: {
        // One that accepts and does nothing is asked again by the next try.
        CO_TRY(co_await ensure_on(bmc, Deadline::in(10s), kQuick));
        CO_TRY(const auto reported, co_await bmc.power.state(deadline));
        EXPECT_EQ(reported.value, PowerState::on);
        break;
      }
      case Verb::look: {
        CO_TRY(const auto seen, co_await bmc.facts.observe(Deadline::in(60s)));
        EXPECT_FALSE(seen.parts.empty());
        EXPECT_EQ(seen.power, PowerState::off);
        break;
      }
      case Verb::boot_once: {
        CO_TRY(co_await bmc.boot.set({.target = BootTarget::pxe, .once = true}, deadline));
        CO_TRY(const auto reported, co_await bmc.boot.read(deadline));
        EXPECT_EQ(reported.value.target, BootTarget::pxe);
        break;
      }
      case Verb::clock: {
        CO_TRY(co_await bmc.manager.clock(deadline));
        break;
      }
      case Verb::sense: {
        CO_TRY(co_await bmc.sensors.read(deadline));
        break;
      }
      case Verb::log: {
        CO_TRY(co_await bmc.log.read(std::nullopt, 100, deadline));
        break;
      }
    }
    co_return ok();
  }
  /// As often as the step runner would: an error says what it was, and the next try is another day.
  Result<void> ask_as_a_step(Verb verb) {
    constexpr int kTries = 4;
    Result<void> done = ok();
    for (int i = 0; i < kTries; ++i) {
      const auto bmc = redfish::open(
          transport, "a01-n01",
          {.endpoint = server->endpoint(), .user = server->user(), .password = {}, .trust = {}},
          password_from(password), keys);
      done = run_to_end(io, ask(*bmc, verb));
      run_to_end(io, [](Bmc& leaving) -> Task<bool> {
        co_await leaving.log_out();
        co_return true;
      }(*bmc));
      if (done) return done;
    }
    return done;
  }
  std::uint64_t used() {
    return server->on([](auto&, rehearsal::BmcService& service) { return service.rules().used(); });
  }

  asio::io_context io;
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  std::string password;
  std::unique_ptr<test::VirtualBmc> server;
};

TEST_P(Quirks, AreSurvivedOneByOne) {
  const auto rules = rules_of_the_scenario();
  const auto rule = std::ranges::find_if(
      rules, [&](const Rule& one) { return one.note.starts_with(GetParam().note); });
  ASSERT_NE(rule, rules.end()) << "no such rule in the scenario";
  auto alone = *rule;
  alone.skip = 0;
  become(GetParam().vendor);
  server->misbehave(alone);

  const auto done = ask_as_a_step(GetParam().verb);

  EXPECT_TRUE(done) << done.error().what;
  EXPECT_GT(used(), 0u) << "the rule was never met";
  EXPECT_EQ(server->on([](auto&, auto& service) { return service.refused_logins(); }), 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, Quirks, ::testing::ValuesIn(quirks()),
                         [](const auto& info) { return std::to_string(info.index); });

TEST(QuirksScenario, HasAnExampleOfSurvivalForEachRule) {
  for (const auto& rule : rules_of_the_scenario())
    EXPECT_TRUE(std::ranges::any_of(quirks(), [&](const Quirk& quirk) {
      return rule.note.starts_with(quirk.note);
    })) << rule.note;
  EXPECT_GE(rules_of_the_scenario().size(), 20u);
}

}  // namespace
}  // namespace cupel::bmc
