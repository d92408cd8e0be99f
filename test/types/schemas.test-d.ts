import type {
  AddContactResult,
  List,
  Profile,
  ProfileAttributes,
  V1ConsentedListContact,
  V1Contact,
  V1Event,
  V1ListContact,
  V1OptIn,
  V2Contact,
  V2Identifier,
} from "audience-sdk/schemas";
import type * as schemas from "audience-sdk/schemas";
import type { SnapshotContact } from "audience-sdk/snapshot";
import { expectTypeOf, it } from "vitest";
import type * as z from "zod";

it("Input and output types are equal, because there are no transforms", () => {
  expectTypeOf<z.input<typeof schemas.v1ContactSchema>>().toEqualTypeOf<V1Contact>();
  expectTypeOf<z.input<typeof schemas.v1ListContactSchema>>().toEqualTypeOf<V1ListContact>();
  expectTypeOf<z.input<typeof schemas.v1EventSchema>>().toEqualTypeOf<V1Event>();
  expectTypeOf<z.input<typeof schemas.v2ContactSchema>>().toEqualTypeOf<V2Contact>();
  expectTypeOf<z.input<typeof schemas.v2IdentifierSchema>>().toEqualTypeOf<V2Identifier>();
});

it("The types state the required fields", () => {
  expectTypeOf<{ email: string }>().toExtend<V1Contact>();
  expectTypeOf<{ phone: string }>().not.toExtend<V1ListContact>();
  expectTypeOf<{ email: string }>().not.toExtend<V1ConsentedListContact>();
  expectTypeOf<{ email: string; email_opt_in: V1OptIn }>().toExtend<V1ConsentedListContact>();
  expectTypeOf<V1ConsentedListContact>().toExtend<V1ListContact>();
  expectTypeOf<{ contact: { email: string } }>().not.toExtend<V1Event>();
  expectTypeOf<{ eventName: string; contactUUID: string }>().toExtend<V1Event>();
  expectTypeOf<{ firstName: string; listIds: string[] }>().not.toExtend<V2Contact>();
});

it("The types state the values of a field", () => {
  expectTypeOf<V1OptIn>().toEqualTypeOf<"SUBSCRIBED" | "NON_SUBSCRIBED" | "UNSUBSCRIBED">();
  expectTypeOf<V1Contact["dob"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<V1Contact["custom_properties"]>().toEqualTypeOf<
    Record<string, string | number | boolean | undefined> | undefined
  >();
  expectTypeOf<V2Contact["createdAt"]>().toEqualTypeOf<string | Date | undefined>();
  expectTypeOf<V2Identifier["consent"]["createdAt"]>().toEqualTypeOf<string | Date>();
  expectTypeOf<V2Identifier["id"]>().toEqualTypeOf<string | number>();
});

it("The attributes of a profile have every field of a v1 contact", () => {
  type Flag = "is_suppressed" | "double_opt_in";
  type OptIn = "email_opt_in" | "phone_opt_in";
  type Text = Exclude<keyof V1Contact, Flag | OptIn | "custom_properties">;
  expectTypeOf<Profile["attributes"][Flag]>().toEqualTypeOf<boolean | null | undefined>();
  expectTypeOf<Pick<ProfileAttributes, Text>>().toEqualTypeOf<{
    [Field in Text]?: string | null | undefined;
  }>();
  expectTypeOf<Profile["attributes"][OptIn]>().toEqualTypeOf<V1OptIn | null | undefined>();
  expectTypeOf<SnapshotContact[OptIn]>().toEqualTypeOf<V1OptIn | undefined>();
  expectTypeOf<ProfileAttributes["custom_properties"]>().toEqualTypeOf<
    Record<string, string> | null | undefined
  >();
  expectTypeOf<keyof ProfileAttributes>().toEqualTypeOf<keyof V1Contact | "created" | "updated">();
});

it("Only the required fields of a response are not optional", () => {
  expectTypeOf<Profile["id"]>().toEqualTypeOf<string>();
  expectTypeOf<Profile["attributes"]["email"]>().toEqualTypeOf<string | null | undefined>();
  expectTypeOf<AddContactResult["contact"]["contactUUID"]>().toEqualTypeOf<string>();
  expectTypeOf<AddContactResult["message"]>().toEqualTypeOf<string | null | undefined>();
  expectTypeOf<List["uuid"]>().toEqualTypeOf<string>();
  expectTypeOf<List["created_at"]>().toEqualTypeOf<number | null | undefined>();
});
