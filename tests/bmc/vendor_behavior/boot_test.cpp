// The next boot and the discs to boot from, on a virtual BMC of every vendor; what the machine
// really booted from is the proof.
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

constexpr const char* kImage = "https://10.0.0.1/images/installer.iso";

class VendorBehaviorOfBooting : public OfEachVendor {
 protected:
  Result<Protocol> set(const BootOverride& requested) {
    return with_bmc([&](Bmc& bmc) { return bmc.boot.set(requested, soon()); });
  }
  BootOverride reported() {
    auto seen = with_bmc([](Bmc& bmc) { return bmc.boot.read(soon()); });
    EXPECT_TRUE(seen) << seen.error().what;
    return seen ? seen->value : BootOverride{};
  }
  Result<Protocol> insert(const std::string& url) {
    return with_bmc([&](Bmc& bmc) { return bmc.media.insert(url, soon()); });
  }
  Result<Protocol> eject() {
    return with_bmc([](Bmc& bmc) { return bmc.media.eject(soon()); });
  }
  bool turn_off() {
    server().on([](auto& machine, auto&) { return machine.press(rehearsal::Reset::force_off); });
    return server().wait_until(
        [](auto& machine) { return machine.power() == rehearsal::Power::off; });
  }
  bool lacks(BootTarget target) const {
    return std::ranges::find(abilities().lacks, target) != abilities().lacks.end();
  }
  std::string disc() {
    return server().on([](auto& machine, auto&) { return machine.virtual_disc(); });
  }
};

/// The standard's words, and a Supermicro's for its drive.
bool is_word_of(BootTarget target, const std::string& word) {
  switch (target) {
    case BootTarget::pxe:
      return word == "Pxe";
    case BootTarget::uefi_http:
      return word == "UefiHttp";
    case BootTarget::disk:
      return word == "Hdd";
    case BootTarget::virtual_cd:
      return word == "Cd" || word == "UsbCd";
    case BootTarget::bios_setup:
      return word == "BiosSetup";
    case BootTarget::none:
      return word == "None";
  }
  return false;
}

constexpr std::array kTargets{BootTarget::pxe, BootTarget::uefi_http, BootTarget::disk,
                              BootTarget::virtual_cd, BootTarget::bios_setup};

TEST_P(VendorBehaviorOfBooting, EveryTargetHoldsForOneBootAndThenNoMore) {
  for (const auto target : kTargets) {
    const BootOverride requested{.target = target, .once = true};

    const auto done = set(requested);

    if (lacks(target)) {
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Code::kUnsupported);
      EXPECT_THAT(done.error().what, HasSubstr("no boot target"));
      continue;
    }
    ASSERT_TRUE(done) << to_string(target) << ": " << done.error().what;
    EXPECT_EQ(reported(), requested);
    ASSERT_TRUE(server().boot());
    EXPECT_TRUE(is_word_of(target, booted_from())) << to_string(target) << ": " << booted_from();
    EXPECT_EQ(reported(), BootOverride{});
    ASSERT_TRUE(turn_off());
  }
}

TEST_P(VendorBehaviorOfBooting, EveryTargetStaysUntilItIsTakenBackWhereTheBmcKeepsOne) {
  for (const auto target : kTargets) {
    if (lacks(target)) continue;
    const BootOverride requested{.target = target, .once = false};

    const auto done = set(requested);

    if (!abilities().keeps_boot) {
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Code::kUnsupported);
      EXPECT_THAT(done.error().what, HasSubstr("set it once before each boot"));
      continue;
    }
    ASSERT_TRUE(done) << to_string(target) << ": " << done.error().what;
    ASSERT_TRUE(server().boot());
    EXPECT_TRUE(is_word_of(target, booted_from())) << to_string(target) << ": " << booted_from();
    EXPECT_EQ(reported(), requested) << "one boot does not end it";
    ASSERT_TRUE(turn_off());
  }
}

TEST_P(VendorBehaviorOfBooting, TakesABootOverrideBack) {
  ASSERT_TRUE(set({.target = BootTarget::disk, .once = true}));

  const auto done = set({});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(reported(), BootOverride{});
  ASSERT_TRUE(server().boot());
  EXPECT_EQ(booted_from(), "None");
}

// What a PATCH leaves out, a Supermicro sets back: to Once, and to legacy mode.
TEST_P(VendorBehaviorOfBooting, AlwaysSetsUefiMode) {
  ASSERT_TRUE(set({.target = BootTarget::pxe, .once = true}));
  ASSERT_TRUE(set({.target = BootTarget::disk, .once = true}));

  EXPECT_EQ(server().on([](auto& machine, auto&) { return machine.boot_override().mode; }), "UEFI");
}

TEST_P(VendorBehaviorOfBooting, BootsFromAnUriOrSaysHowElseTheMachineLearnsIt) {
  const std::string uri = "http://10.0.0.1/boot/ipxe.efi";
  const BootOverride requested{.target = BootTarget::uefi_http, .once = true, .uri = uri};

  const auto done = set(requested);

  if (!abilities().uri_advice.empty()) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kUnsupported);
    EXPECT_THAT(done.error().what, HasSubstr(std::string{abilities().uri_advice}));
    return;
  }
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(reported(), requested);
  ASSERT_TRUE(server().boot());
  EXPECT_EQ(booted_image(), uri);
}

TEST_P(VendorBehaviorOfBooting, DuringPostItIsRefusedWithPatienceOnlyWhereTheVendorRefusesIt) {
  become({.faults = {{.kind = rehearsal::FaultKind::boot_hangs}}});
  server().on([](auto& machine, auto&) { return machine.press(rehearsal::Reset::on); });
  ASSERT_TRUE(server().wait_until([](auto& machine) { return machine.in_post(); }));
  const BootOverride requested{.target = BootTarget::pxe, .once = true};

  const auto early = set(requested);
  ASSERT_TRUE(turn_off());
  server().on([](auto& machine, auto&) {
    machine.set_faults({});
    return true;
  });
  const auto later = set(requested);

  EXPECT_EQ(!early, abilities().busy_in_post);
  if (!early) {
    EXPECT_EQ(early.error().code, Code::kBusy);
    EXPECT_EQ(early.error().retry_after, 30s);
  }
  ASSERT_TRUE(later) << later.error().what;
  ASSERT_TRUE(server().boot());
  EXPECT_EQ(booted_from(), "Pxe");
}

TEST_P(VendorBehaviorOfBooting, BootsFromTheDiscThatWasPutIn) {
  const auto inserted = insert(kImage);
  const auto set_to_it = set({.target = BootTarget::virtual_cd, .once = true});

  ASSERT_TRUE(inserted) << inserted.error().what;
  ASSERT_TRUE(set_to_it) << set_to_it.error().what;
  ASSERT_TRUE(server().boot());
  EXPECT_EQ(booted_image(), kImage);
}

TEST_P(VendorBehaviorOfBooting, ReportsTheDiscUntilItsEjection) {
  ASSERT_TRUE(insert(kImage));
  const auto with = with_bmc([](Bmc& bmc) { return bmc.media.slots(soon()); });
  const auto ejected = eject();
  const auto without = with_bmc([](Bmc& bmc) { return bmc.media.slots(soon()); });
  const auto again = eject();

  ASSERT_TRUE(with) << with.error().what;
  EXPECT_EQ(std::ranges::count(*with, kImage, &MediaSlot::image), 1);
  ASSERT_TRUE(ejected) << ejected.error().what;
  EXPECT_EQ(disc(), "");
  ASSERT_TRUE(without) << without.error().what;
  for (const auto& slot : *without) {
    EXPECT_FALSE(slot.inserted) << slot.id;
    EXPECT_EQ(slot.image, "") << slot.id;
  }
  EXPECT_TRUE(again) << "idempotent: " << again.error().what;
}

// An AMI goes on saying Inserted for a while; at this speed that never ends.
TEST_P(VendorBehaviorOfBooting, IgnoresAStaleInsertedFlag) {
  become({.speed = 1});
  const std::string other = "https://10.0.0.1/images/rescue.iso";

  const auto inserted = insert(kImage);
  const auto ejected = eject();
  const auto changed = insert(other);

  ASSERT_TRUE(inserted) << inserted.error().what;
  ASSERT_TRUE(ejected) << ejected.error().what;
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(disc(), other);
}

TEST_P(VendorBehaviorOfBooting, AnotherDiscReplacesTheOneThatIsIn) {
  const std::string other = "https://10.0.0.1/images/rescue.iso";
  ASSERT_TRUE(insert(kImage));

  const auto replaced = insert(other);

  ASSERT_TRUE(replaced) << replaced.error().what;
  EXPECT_EQ(disc(), other);
}

TEST_P(VendorBehaviorOfBooting, ReportsAMissingLicence) {
  become({.bmc = {.licensed = false}});

  const auto inserted = insert(kImage);

  ASSERT_EQ(!inserted, is("supermicro"));
  if (!inserted) {
    EXPECT_EQ(inserted.error().code, Code::kUnsupported);
    EXPECT_THAT(inserted.error().what, HasSubstr("licen"));
  }
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfBooting, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
