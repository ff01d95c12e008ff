#pragma once
// The BMC's own users. Source: DSP0268, ManagerAccount; DSP0266, 13.3.7 (password management).
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// Empty slots (Dell has sixteen) are left out.
Task<Result<std::vector<Account>>> read_accounts(Client& client, Layout layout, Deadline deadline);

/// Changes it in the account that has this name, whatever its slot. Where the BMC shows no list
/// before its factory password is changed: in the account that it names, or that its vendor
/// uses. Nothing is asked afterwards: the BMC may have ended our session with the old password.
/// Errors: kNotFound (no such user); kInvalid (the BMC's rules for passwords).
/// `refusal`: what the BMC said to everything else, where it did; it may name the account.
Task<Result<void>> change_password(Client& client, Layout layout, Error refusal, std::string user,
                                   std::string password, Deadline deadline);

/// The same where the BMC refuses everything else until then (`refusal` says so): nothing is read
/// but the root, and the accounts where they are shown.
Task<Result<void>> change_first_password(Client& client, Error refusal, std::string user,
                                         std::string password, Deadline deadline);

/// Whether the BMC will take it. Errors: kInvalid names the rule, never the password.
Result<void> check_password(const PasswordRules& rules, std::string_view user,
                            std::string_view password);

}  // namespace cupel::bmc::redfish
