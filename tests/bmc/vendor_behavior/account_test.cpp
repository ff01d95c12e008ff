// Users, passwords and sessions, on a virtual BMC of every vendor.
#include "bmc/rotate.h"
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

using ::testing::Contains;

constexpr const char* kNew = "Sesame-opens-5678";  // good enough for every policy

class VendorBehaviorOfAccounts : public OfEachVendor {
 protected:
  Result<Protocol> change_to(const std::string& requested) {
    return with_bmc(
        [&](Bmc& bmc) { return bmc.accounts.change_password("admin", requested, soon()); });
  }
  auto log_in() {
    return with_bmc([](Bmc& bmc) { return bmc.power.state(soon()); });
  }
  std::uint64_t refused_logins() {
    return server().on([](auto&, auto& service) { return service.refused_logins(); });
  }
  std::string its_password() {
    return server().on([](auto&, rehearsal::BmcService& service) {
      auto& accounts = service.state().accounts;
      return accounts.find(accounts.id_of("admin"))->password;
    });
  }
  std::unique_ptr<Bmc> open_with(const std::string& secret) {
    return redfish::open(
        *transport_, "a01-n01",
        {.endpoint = server().endpoint(), .user = "admin", .password = {}, .trust = {}},
        password_from(secret), keys);
  }
  /// `dies`: the controller does, between the BMC's consent and the proof.
  Result<Rotated> rotate(bool dies = false) {
    RotationDoors doors{.node = "a01-n01", .user = "admin", .new_password = kNew};
    int logins_with_new = 0;
    doors.with_new = [&]() -> std::unique_ptr<Bmc> {
      // The second one is the proof: nothing of it goes out.
      if (dies && ++logins_with_new == 2) start_over();
      return open_with(ours_);
    };
    doors.with_old = [this] { return open_with(password); };
    doors.note = [this]() -> Result<std::optional<RotationNote>> { return note_; };
    doors.write_note = [&](std::optional<RotationNote> written) -> Result<void> {
      if (dies && !written) return Error{Code::kStorage, "died"};
      note_ = std::move(written);
      return ok();
    };
    doors.forget_refusals = [this] { transport_->bmc_limits("a01-n01").logins.accepted("admin"); };
    return run(rotate_password(doors, Deadline::in(60s)));
  }

  std::string ours_ = kNew;
  std::optional<RotationNote> note_{};
};

TEST_P(VendorBehaviorOfAccounts, ListsTheUsersAndNoFreeSlots) {
  const auto reported = with_bmc([](Bmc& bmc) { return bmc.accounts.read(soon()); });

  ASSERT_TRUE(reported) << reported.error().what;
  ASSERT_EQ(reported->value.size(), 1u);
  const auto& admin = reported->value.front();
  EXPECT_EQ(admin.user, "admin");
  EXPECT_EQ(admin.role, "Administrator");
  EXPECT_TRUE(admin.enabled);
}

TEST_P(VendorBehaviorOfAccounts, AfterAChangeTheNewPasswordIsRightAndTheOldOneIsRefused) {
  const auto changed = change_to(kNew);
  ASSERT_TRUE(changed) << changed.error().what;

  start_over();
  const auto with_old = log_in();
  start_over();
  password = kNew;
  const auto with_new = log_in();

  ASSERT_FALSE(with_old);
  EXPECT_EQ(with_old.error().code, is("hpe") || is("hpe-ilo5") ? Code::kBusy : Code::kRefused)
      << "an iLO refuses a right password now and then: one refusal proves nothing";
  EXPECT_TRUE(with_new) << with_new.error().what;
}

TEST_P(VendorBehaviorOfAccounts, AWrongPasswordIsTriedOnceAndNoMore) {
  (void)server();
  password = "Not-the-password-1";
  const bool wrong_later = is("hpe") || is("hpe-ilo5");

  for (int i = 0; i < 3; ++i) ASSERT_FALSE(log_in());

  EXPECT_EQ(refused_logins(), 1u) << (wrong_later ? "the next one waits three seconds"
                                                  : "it stops everybody");
}

TEST_P(VendorBehaviorOfAccounts, SaysWhatThePolicyHasAgainstAPassword) {
  const auto too_short = change_to("Ab1-");
  const auto too_long = change_to(std::string(60, 'x') + "A1-");
  const auto of_one_kind = change_to("abcdefghijklmnop");

  if (is("dell")) {  // an iDRAC takes one character
    EXPECT_TRUE(too_short) << too_short.error().what;
    password = "Ab1-";
  } else {
    ASSERT_FALSE(too_short);
    EXPECT_EQ(too_short.error().code, Code::kInvalid) << too_short.error().what;
    EXPECT_THAT(too_short.error().what, HasSubstr("password"));
    EXPECT_THAT(too_short.error().what, Not(HasSubstr("Ab1-")));
  }
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, is("dell") ? Code::kRefused : Code::kInvalid)
      << too_long.error().what;
  if (abilities().names_passwords) {
    ASSERT_FALSE(of_one_kind);
    EXPECT_EQ(of_one_kind.error().code, Code::kInvalid) << of_one_kind.error().what;
    EXPECT_EQ(its_password(), server().password());
  }
}

TEST_P(VendorBehaviorOfAccounts, NamesTheUsersThereAreForOneThatThereIsNot) {
  const auto changed =
      with_bmc([](Bmc& bmc) { return bmc.accounts.change_password("operator", kNew, soon()); });

  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kNotFound);
  EXPECT_THAT(changed.error().what, HasSubstr("it has: admin"));
}

TEST_P(VendorBehaviorOfAccounts, AFactorysPasswordMustBeChangedFirstAndTheErrorSaysHow) {
  become({.bmc = {.factory_password = true}});

  const auto early = log_in();
  const auto changed = change_to(kNew);
  password = kNew;
  const auto later = log_in();

  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Code::kRefused);
  EXPECT_THAT(early.error().what, HasSubstr("password rotate"));
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_TRUE(later) << later.error().what;
}

TEST_P(VendorBehaviorOfAccounts, RotatesTheFactorysPassword) {
  become({.bmc = {.factory_password = true}});

  const auto rotated = rotate();

  ASSERT_TRUE(rotated) << rotated.error().what;
  EXPECT_EQ(*rotated, Rotated::changed);
  EXPECT_EQ(its_password(), kNew);
  EXPECT_FALSE(note_);
  EXPECT_EQ(refused_logins(), 1u) << "the new one, before it was true";
}

TEST_P(VendorBehaviorOfAccounts, FinishesARotationWhoseControllerDiedBeforeTheProof) {
  become({.bmc = {.factory_password = true}});
  ASSERT_FALSE(rotate(true));
  ASSERT_TRUE(note_);
  start_over();

  const auto again = rotate();

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(*again, Rotated::finished_earlier);
  EXPECT_EQ(its_password(), kNew);
  EXPECT_FALSE(note_);
}

TEST_P(VendorBehaviorOfAccounts, LeavesAPasswordAloneThatIsOursAlready) {
  become({.password = kNew});

  const auto rotated = rotate();

  ASSERT_TRUE(rotated) << rotated.error().what;
  EXPECT_EQ(*rotated, Rotated::already);
  EXPECT_EQ(refused_logins(), 0u);
}

TEST_P(VendorBehaviorOfAccounts, TwoClientsAtOnceShareOneSessionAndTwoRequests) {
  const auto one = open();
  const auto other = open();
  const auto ask = [](Bmc* bmc) { return bmc->power.state(soon()); };
  std::vector<Bmc*> asked;
  for (int i = 0; i < 6; ++i) asked.insert(asked.end(), {one.get(), other.get()});

  std::vector<Result<Sourced<PowerState>>> reported;
  // So late that a second one comes meanwhile, however long its handshake takes.
  for (auto late = 5ms; server().most_at_once() < 2 && late < 1s; late *= 4) {
    server().misbehave({.method = "GET", .times = 0, .late = late});
    reported = run(for_each_of<Sourced<PowerState>>(asked, asked.size(), ask));
  }
  const auto sessions = server().on([](auto&, auto& service) { return service.open_sessions(); });
  log_out(*one);
  log_out(*other);

  for (const auto& state : reported) EXPECT_TRUE(state) << state.error().what;
  EXPECT_EQ(sessions, 1u);
  EXPECT_EQ(server().most_at_once(), 2);
  EXPECT_EQ(server().on([](auto&, auto& service) { return service.open_sessions(); }), 0u);
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfAccounts, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
