//! What every engine does alike: functions over a store that begins empty and a clock that stands still.

pub mod agents;
pub mod ahead;
pub mod apply;
pub mod audit;
pub mod bounds;
pub mod callbacks;
pub mod ceremonies;
pub mod counts;
pub mod credentials;
pub mod cues;
pub mod decided;
pub mod deliveries;
pub mod files;
pub mod history;
pub mod imports;
pub mod inbox;
pub mod keys;
pub mod links;
pub mod mail;
pub mod nodes;
pub mod notices;
pub mod parcels;
pub mod passkeys;
pub mod passwords;
pub mod people;
pub mod presence;
pub mod purge;
pub mod race;
pub mod rates;
pub mod repeats;
pub mod run_asks;
pub mod run_events;
pub mod run_follow;
pub mod run_lists;
pub mod runs;
pub mod search;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod shelf;
pub mod submit;
pub mod sweep;
pub mod terminals;

/// The list of all behaviours, handed to an engine's macro. One that is missing here is dead code and fails the lint.
macro_rules! behaviours {
    ($on_engine:ident) => {
        $on_engine! {
            submit:
                a_message_comes_back_as_it_was_sent
                a_notify_is_delivered_at_once
                a_used_key_gives_its_first_message_and_current_status
                a_key_belongs_to_one_agent
                a_notify_is_replayed_like_any_other
                without_a_key_everything_is_new
                an_agent_at_its_depth_is_told_so
                a_replay_needs_no_place_of_its_own
                resolving_frees_a_place
                an_earlier_submit_is_found_by_its_key;
            apply:
                every_command_reaches_its_outcome
                an_outcome_is_kept_whole
                an_unknown_message_is_not_found
                a_refusal_leaves_no_trace
                the_first_outcome_stands
                an_answer_at_the_very_expiry_wins
                late_answer_loses_to_the_default
                a_late_cancel_makes_the_expiry_happen
                nothing_expires_early;
            race:
                sixty_four_rivals_have_one_winner
                submits_under_one_key_make_one_message
                submits_at_once_keep_to_the_depth
                a_replay_is_known_even_when_there_is_no_place_left
                operators_at_once_keep_one_chain
                owners_cannot_remove_each_other
                owners_cannot_depose_each_other
                whoever_is_removed_keeps_no_token
                a_label_replaced_at_once_holds_one_credential
                purges_at_once_empty_each_message_once
                joins_at_once_have_one_winner
                the_same_cue_at_once_is_made_once
                cues_at_once_take_each_text_once
                a_cue_that_supersedes_and_an_answer_have_one_winner
                starts_at_once_make_one_run
                ends_at_once_have_one_winner
                no_step_is_taken_after_the_end
                asks_and_answers_at_once_are_counted;
            terminals:
                a_name_is_never_given_twice
                joining_needs_a_person
                agents_in_terminals_are_listed_apart
                the_latest_to_call_comes_first
                a_name_that_an_owner_takes_away_is_the_owners_to_give
                a_terminal_token_ends_with_its_person
                whoever_is_removed_leaves_no_terminal_to_a_namesake;
            bounds:
                so_many_agents_join_lately_and_no_more
                a_person_is_asked_so_much_at_once
                what_is_over_gives_its_place_back
                a_namesake_begins_with_nothing_open
                an_import_keeps_to_the_same_bounds;
            cues:
                the_same_envelope_attaches_until_its_answer_is_collected
                a_cue_supersedes_what_is_gone
                what_was_superseded_is_asked_anew
                while_its_process_waits_an_earlier_cue_stays_open
                only_open_cues_of_the_same_agent_are_superseded
                an_unknown_name_joins_on_the_way
                a_cue_under_anothers_name_leaves_nothing
                an_agent_at_its_depth_is_told_so
                a_cue_is_found_and_collected_by_its_person_alone
                the_current_cue_is_the_newest_that_waits
                what_people_decided_is_kept_until_it_is_collected
                open_cues_come_oldest_first
                what_retention_emptied_is_not_attached_to;
            ahead:
                texts_answer_one_cue_each_oldest_first
                a_text_that_reads_like_a_choice_is_none
                coming_back_uses_no_text_up
                only_the_person_an_agent_asks_types_ahead
                whoever_may_not_decide_any_more_answers_nothing
                so_many_texts_wait_and_no_more
                a_text_is_dropped_by_whoever_typed_it
                texts_go_with_their_agent_and_their_person;
            files:
                files_come_with_the_answer
                an_answer_without_all_its_files_is_refused
                an_answer_that_came_too_late_leaves_no_file
                a_purge_takes_the_files;
            imports:
                an_import_twice_is_once
                old_history_is_kept_as_long_as_what_ends_now
                an_imported_answer_was_collected_long_ago
                an_imported_answer_that_nobody_read_is_kept
                an_imported_cue_that_is_open_is_attached_to
                a_name_of_somebody_else_is_not_imported;
            runs:
                a_run_comes_back_as_it_was_begun
                a_run_begins_once
                a_continuation_follows_a_segment_that_has_ended
                a_step_moves_the_run
                a_run_ends_once_and_says_how_and_when
                nothing_is_written_for_a_segment_that_is_over
                a_nul_in_a_text_breaks_no_run;
            run_events:
                events_are_read_behind_a_number
                the_last_events_are_read_before_a_number
                what_streams_is_not_stored
                a_number_that_was_given_is_not_given_again
                the_newest_events_are_kept
                so_many_bytes_of_events_are_kept
                the_newest_event_is_kept_however_long_it_is
                the_newest_records_are_kept;
            run_asks:
                an_ask_is_a_message_and_an_event_at_once
                an_ask_that_cannot_be_made_leaves_nothing
                asks_are_counted_until_they_are_resolved
                an_answer_waits_until_the_run_has_taken_it_in
                a_segment_that_is_over_waits_for_nothing
                an_ask_with_a_nul_is_asked_and_answered
                a_purged_message_is_waited_for_no_more
                a_message_outlives_its_run;
            run_follow:
                a_glance_changes_with_whatever_happens
                many_runs_are_glanced_at_together
                a_follower_reads_everything_at_one_instant
                a_follower_hears_where_the_next_segment_begins;
            run_lists:
                the_latest_to_start_comes_first
                runs_are_listed_by_their_directory
                pages_have_no_gap_and_no_duplicate
                only_runs_that_ended_before_the_instant_go
                a_run_that_was_forgotten_can_begin_anew
                the_longest_over_go_first_and_so_many_at_once;
            repeats:
                a_step_that_is_repeated_is_taken_once
                an_ask_that_is_repeated_is_asked_once
                an_end_that_is_repeated_is_the_same_end
                a_start_that_is_repeated_is_one_start
                a_continuation_that_is_repeated_is_one_continuation;
            nodes:
                a_node_that_renews_keeps_what_it_has
                a_node_whose_lease_ran_out_loses_everything_once
                a_node_that_was_removed_hears_of_it_when_it_renews
                whoever_was_late_itself_removes_only_those_who_left
                a_node_finds_its_runs_again
                a_node_that_was_removed_claims_nothing
                while_others_may_come_back_only_those_that_left_are_gone
                a_node_that_leaves_gives_its_claims_back_at_once
                whoever_looks_next_takes_the_runs_of_a_node_that_left
                where_one_is_alone_every_other_node_is_gone
                a_credential_of_a_node_ends_with_it
                so_many_runs_are_adopted_at_once_and_the_rest_next_time
                while_all_nodes_live_only_a_thorough_look_finds_what_nobody_has
                what_a_lost_node_still_writes_changes_nothing;
            mail:
                letters_come_in_the_order_they_were_written
                a_letter_stays_until_it_is_dropped
                a_letter_comes_late_by_the_clock_and_for_another_segment
                letters_are_for_the_node_that_has_the_run
                letters_follow_the_run_to_its_next_node
                nobody_writes_to_a_run_that_is_not_under_way
                letters_are_forgotten_with_their_run
                a_nul_in_a_letter_breaks_nothing;
            rates:
                so_much_is_granted_at_once_and_then_one_in_each_period
                a_refusal_says_how_long_to_wait
                a_rest_gives_everything_back_and_no_more
                keys_are_apart
                rivals_never_get_more_than_there_is
                what_is_whole_again_is_forgotten;
            audit:
                a_message_leaves_its_submission_and_its_outcome
                a_chain_of_entries_holds_together
                an_entry_names_the_content_and_the_resolution
                what_operators_do_is_chained_too
                an_unknown_subject_has_no_trail;
            inbox:
                urgent_comes_first_then_the_longest_waiting
                the_arrival_counts_and_not_the_id
                pages_have_no_gap_and_no_duplicate
                a_cursor_outlives_the_message_it_names
                only_what_is_open_waits_there
                it_is_read_by_agent_project_tag_and_kind
                filtered_pages_have_no_gap_and_no_duplicate
                backwards_the_nearest_comes_first
                backwards_it_has_no_gap_and_no_duplicate
                backwards_what_is_decided_keeps_its_place
                backwards_it_leaves_out_the_same;
            shelf:
                what_is_set_aside_comes_back_at_its_time
                what_is_set_aside_is_so_for_one_person
                what_is_set_aside_is_taken_back
                the_soonest_to_come_back_is_first
                what_is_decided_is_no_longer_set_aside
                only_what_is_open_is_set_aside
                what_is_open_is_not_archived;
            notices:
                notifies_come_newest_first_and_alone
                pages_have_no_gap_and_no_duplicate
                what_one_has_archived_the_others_still_see
                a_place_outlives_the_notify_it_names;
            decided:
                the_latest_decision_comes_first
                one_status_is_read_alone
                it_is_read_by_agent_project_tag_and_kind
                pages_have_no_gap_and_no_duplicate
                what_retention_emptied_is_gone_from_it
                it_tells_how_a_delivery_stands;
            counts:
                an_empty_store_has_nothing_to_see
                what_is_open_is_counted_less_what_was_set_aside
                what_a_removed_agent_left_open_is_counted
                notices_are_counted_until_they_are_archived
                notices_are_counted_to_a_hundred
                deliveries_are_counted_when_they_failed;
            search:
                all_words_have_to_occur
                the_start_of_a_word_is_enough
                case_and_accents_do_not_matter
                a_message_is_found_by_its_agent_project_and_tags
                sensitive_words_are_not_found
                whatever_is_typed_is_only_words
                a_long_word_is_found_by_its_start
                pages_have_no_gap_and_no_duplicate
                open_and_decided_are_found_alike
                what_comes_later_is_found_after_the_next_turn
                a_turn_keeps_to_its_limit
                a_turn_reads_so_much_text_and_no_more
                turns_at_once_index_each_message_once
                what_retention_emptied_is_not_found;
            presence:
                an_agent_was_seen_when_it_last_called
                what_was_seen_never_moves_backwards
                the_first_fetch_of_an_answer_counts
                only_an_answer_can_be_fetched
                lists_of_what_is_over_tell_of_the_fetch;
            history:
                the_newest_comes_first
                pages_have_no_gap_and_no_duplicate
                it_is_read_by_agent_and_by_status
                it_tells_how_a_delivery_stands;
            sweep:
                a_message_expires_only_after_its_expiry
                the_longest_overdue_expires_first_and_one_for_each_id
                what_expires_has_its_default_or_no_value
                what_expires_gives_its_place_back_and_has_to_be_brought
                what_was_answered_meanwhile_does_not_expire
                expiries_at_once_end_each_message_once
                the_next_expiry_is_that_of_an_open_message
                what_was_resolved_of_late_is_found_whatever_came_of_it
                the_store_says_when_it_can_be_written;
            purge:
                a_purged_message_is_gone
                a_key_is_free_again
                the_trail_stays
                the_delivery_goes
                only_what_ended_before_the_instant_goes
                it_takes_the_oldest_first_and_stops_at_its_limit
                a_notify_ages_from_its_arrival;
            deliveries:
                the_obligation_comes_with_the_resolution
                every_outcome_has_to_be_brought
                without_a_callback_nothing_is_owed
                a_claim_is_a_lease
                a_claim_is_for_one_host_and_takes_the_longest_due
                a_host_is_due_when_one_of_its_obligations_is
                two_claimants_never_share_an_obligation
                after_a_crash_claims_are_due_at_once
                a_delivered_obligation_is_over
                a_failed_attempt_may_be_the_last
                a_failed_attempt_may_be_repeated
                a_person_may_start_another_round
                what_waits_for_its_next_attempt_is_tried_at_once
                another_attempt_is_only_for_what_is_owed
                a_list_keeps_to_its_limit
                what_was_brought_counts_whoever_has_the_claim
                a_failure_after_the_claim_is_lost_does_not_count;
            parcels:
                a_parcel_holds_all_that_an_attempt_needs
                there_is_no_parcel_without_something_to_bring
                a_host_is_approved_by_its_name_for_every_port
                a_host_is_approved_by_name_and_port_for_that_port
                an_approval_belongs_to_one_agent
                the_named_secret_is_that_of_the_agent
                keys_come_newest_first_until_the_old_ones_retire;
            credentials:
                a_token_stands_for_its_agent
                a_token_stands_for_its_person
                an_unknown_token_stands_for_nobody
                a_token_ends_after_its_last_millisecond
                a_label_holds_one_credential;
            sessions:
                a_session_stands_for_its_person
                a_session_needs_a_person
                a_list_tells_what_is_valid_newest_first
                sessions_that_ended_do_not_pile_up
                one_credential_is_ended_by_its_id
                all_other_sessions_are_ended_at_once
                a_token_beside_a_session_is_its_own;
            links:
                a_link_works_once
                a_link_works_until_it_expires
                looking_at_a_link_does_not_use_it_up
                a_link_is_no_token
                a_new_invitation_ends_the_one_before
                a_link_needs_a_person;
            passwords:
                a_password_is_set_replaced_and_removed
                a_password_needs_a_person;
            passkeys:
                a_passkey_comes_back_as_it_was_added
                an_id_belongs_to_one_person
                a_person_has_so_many_and_no_more
                a_use_keeps_the_counter_and_the_instant
                a_person_removes_only_their_own;
            ceremonies:
                looking_at_a_ceremony_does_not_take_it
                a_person_has_a_few_at_once_and_the_oldest_goes
                a_ceremony_is_taken_once
                a_ceremony_ends_with_its_time;
            agents:
                an_id_is_taken_once
                the_list_counts_what_is_valid
                the_list_is_in_the_order_of_bytes
                a_rotation_keeps_the_old_token_for_the_overlap
                a_second_rotation_never_lengthens_the_first
                rotating_nobody_does_nothing
                a_removed_agent_can_do_nothing
                a_removed_agent_leaves_its_messages
                an_agent_that_returns_finds_its_open_messages_counted;
            people:
                a_name_is_taken_once
                a_person_may_hold_several_tokens
                the_list_names_actor_and_role
                a_role_is_changed_for_every_token_at_once
                the_last_owner_stays_one
                whoever_is_removed_leaves_nothing_to_a_namesake;
            callbacks:
                a_registered_host_waits_for_approval
                an_approved_host_stays_approved
                a_removed_host_is_not_approved
                hosts_are_listed_by_agent
                a_host_needs_an_agent;
            secrets:
                a_secret_is_listed_by_name_only
                a_secret_is_replaced
                a_removed_secret_is_gone
                a_secret_needs_an_agent;
            keys:
                the_newest_hub_key_comes_first
                a_hub_key_is_published_until_it_retires;
            settings:
                a_setting_is_kept_and_replaced
                a_change_is_on_the_trail_of_the_hub;
        }
    };
}
pub(crate) use behaviours;
