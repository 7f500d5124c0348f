//! The behaviours every engine shares: functions over an empty store and a clock that stands still.

pub mod agent_names;
pub mod agents;
pub mod apply;
pub mod audit;
pub mod callbacks;
pub mod ceremonies;
pub mod clock_steps;
pub mod concurrency;
pub mod counts;
pub mod credentials;
pub mod cues;
pub mod decided;
pub mod deliveries;
pub mod files;
pub mod history;
pub mod holds;
pub mod idempotency;
pub mod imports;
pub mod inbox;
pub mod inbox_order;
pub mod keys;
pub mod last_seen;
pub mod links;
pub mod nodes;
pub mod notices;
pub mod passkeys;
pub mod passwords;
pub mod people;
pub mod purge;
pub mod push_context;
pub mod rates;
pub mod run_asks;
pub mod run_commands;
pub mod run_events;
pub mod run_follow;
pub mod run_lists;
pub mod runs;
pub mod search;
pub mod search_filters;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod snooze;
pub mod submit;
pub mod sweep;
pub mod terminal_quota;
pub mod terminals;
pub mod type_ahead;

/// The list of all behaviours, passed to an engine's macro. A missing one is dead code and fails the lint.
macro_rules! behaviours {
    ($on_engine:ident) => {
        $on_engine! {
            submit:
                message_is_read_back_as_it_was_sent
                a_notify_is_delivered_at_once
                used_key_returns_its_first_message_and_current_status
                a_key_belongs_to_one_agent
                notify_is_deduplicated_like_any_other
                without_a_key_every_submit_is_new
                agent_at_its_open_quota_is_refused
                replay_needs_no_slot_of_its_own
                resolving_releases_a_slot
                duplicate_is_found_by_its_key;
            apply:
                every_command_reaches_its_outcome
                outcome_is_stored_completely
                an_unknown_message_is_not_found
                a_refusal_leaves_no_trace
                first_outcome_is_final
                answer_at_the_exact_expiry_wins
                late_answer_loses_to_the_default
                late_cancel_triggers_the_expiry
                nothing_expires_early;
            concurrency:
                sixty_four_rivals_have_one_winner
                submits_under_one_key_make_one_message
                concurrent_submits_respect_the_quota
                replay_is_recognized_when_the_quota_is_full
                concurrent_operators_keep_one_audit_chain
                owners_cannot_remove_each_other
                owners_cannot_demote_each_other
                removed_agent_or_person_keeps_no_token
                concurrent_replacements_of_a_label_leave_one_credential
                concurrent_purges_purge_each_message_once
                concurrent_joins_have_one_winner
                same_cue_submitted_concurrently_is_created_once
                concurrent_cues_take_each_text_once
                superseding_cue_and_answer_have_one_winner
                concurrent_starts_make_one_run
                concurrent_ends_have_one_winner
                no_write_succeeds_after_the_end
                concurrent_asks_and_answers_are_counted;
            agent_names:
                agents_of_one_person_that_look_alike_are_numbered
                name_given_by_hand_wins_and_can_be_taken_back
                name_or_id_of_another_agent_is_refused
                messages_carry_the_name_of_their_agent
                all_agents_are_listed_with_their_state
                figures_count_the_decisions_since_a_time;
            terminals:
                name_is_never_joined_twice
                joining_needs_a_person
                terminal_agents_are_listed_separately
                most_recently_active_comes_first
                name_of_a_removed_terminal_agent_can_be_registered_by_an_owner
                a_terminal_token_ends_with_its_person
                removed_person_leaves_no_terminal_to_a_namesake;
            terminal_quota:
                recent_joins_are_limited_per_person
                open_cues_are_limited_per_person
                resolved_cue_releases_its_slot
                a_namesake_begins_with_nothing_open
                import_respects_the_same_quotas;
            cues:
                the_same_envelope_attaches_until_its_answer_is_collected
                cue_supersedes_cues_of_gone_processes
                superseded_cue_can_be_asked_again
                while_its_process_waits_an_earlier_cue_stays_open
                only_open_cues_of_the_same_agent_are_superseded
                unknown_name_joins_with_its_first_cue
                cue_under_another_agents_name_leaves_nothing
                agent_at_its_open_quota_is_refused
                cue_is_found_and_collected_only_by_its_person
                current_cue_is_the_newest_open_or_uncollected
                decided_cues_stay_until_collected
                open_cues_come_oldest_first
                purged_cue_is_not_attached_to;
            type_ahead:
                texts_answer_one_cue_each_oldest_first
                text_that_matches_a_choice_does_not_select_it
                reattaching_uses_no_text
                only_the_agents_own_person_can_type_ahead
                text_of_a_demoted_person_answers_nothing
                waiting_texts_are_limited
                text_is_dropped_only_by_its_author
                texts_are_deleted_with_their_agent_or_person;
            files:
                files_come_with_the_answer
                an_answer_without_all_its_files_is_refused
                late_answer_stores_no_file
                purge_deletes_the_files;
            imports:
                repeated_import_is_idempotent
                retention_of_imported_history_starts_at_the_import
                imported_answer_counts_as_collected
                imported_uncollected_answer_is_kept
                imported_open_cue_is_attached_to
                cue_of_another_persons_agent_is_not_imported;
            runs:
                run_is_read_back_as_it_was_begun
                a_run_begins_once
                a_continuation_follows_a_segment_that_has_ended
                write_advances_the_run
                run_ends_once_with_outcome_and_time
                ended_segment_accepts_no_writes
                nul_in_a_text_does_not_break_a_run;
            run_events:
                events_are_read_after_a_number
                the_last_events_are_read_before_a_number
                streamed_events_are_not_stored
                event_number_is_never_reused
                the_newest_events_are_kept
                stored_event_bytes_are_limited
                newest_event_is_kept_regardless_of_size
                the_newest_records_are_kept;
            run_asks:
                ask_stores_message_and_event_together
                failed_ask_leaves_nothing
                asks_are_counted_until_they_are_resolved
                answer_stays_pending_until_the_run_consumes_it
                ended_segment_has_no_pending_asks
                ask_with_a_nul_can_be_asked_and_answered
                purged_message_is_not_a_pending_ask
                a_message_outlives_its_run;
            run_follow:
                run_version_changes_with_every_change
                versions_of_many_runs_are_read_together
                follower_reads_one_snapshot
                follower_learns_where_the_next_segment_begins;
            run_lists:
                latest_started_run_comes_first
                runs_are_listed_by_their_directory
                pages_have_no_gap_and_no_duplicate
                only_runs_that_ended_before_the_time_are_purged
                purged_run_id_can_be_reused
                oldest_ended_runs_are_purged_first_in_bounded_batches;
            idempotency:
                repeated_write_is_applied_once
                repeated_ask_is_created_once
                repeated_end_is_idempotent
                repeated_start_is_idempotent
                repeated_continuation_is_idempotent;
            nodes:
                node_that_renews_keeps_its_claims_and_runs
                expired_node_loses_its_claims_and_runs_once
                removed_node_learns_it_when_it_renews
                late_node_removes_only_departed_nodes
                node_finds_its_runs_again
                removed_node_claims_nothing
                departed_policy_removes_only_departed_nodes
                leaving_node_releases_its_claims_at_once
                next_take_over_adopts_the_runs_of_a_departed_node
                sole_node_removes_every_other_node
                credentials_of_a_node_end_with_it
                adoption_is_limited_and_the_rest_follows_next_time
                only_a_thorough_take_over_finds_orphans_while_all_nodes_live
                writes_of_a_removed_node_are_fenced;
            run_commands:
                commands_are_read_in_order
                command_stays_until_it_is_deleted
                command_is_late_by_time_or_by_segment
                commands_go_to_the_node_that_owns_the_run
                commands_follow_the_run_to_its_next_node
                command_to_a_run_that_is_not_running_is_refused
                commands_are_deleted_with_their_run
                nul_in_a_command_breaks_nothing;
            rates:
                burst_is_granted_then_one_per_interval
                a_refusal_says_how_long_to_wait
                rest_refills_the_burst_and_no_more
                keys_are_independent
                concurrent_callers_never_exceed_the_limit
                refilled_keys_are_deleted;
            audit:
                a_message_leaves_its_submission_and_its_outcome
                entries_form_a_hash_chain
                an_entry_names_the_content_and_the_resolution
                operator_actions_are_chained_too
                an_unknown_subject_has_no_trail;
            inbox_order:
                what_ends_soon_comes_first_then_what_an_agent_waits_for
                every_page_size_gives_the_same_order
                by_agent_keeps_each_agent_together
                a_walk_keeps_its_order_while_time_passes_and_agents_leave
                backwards_the_sections_are_reversed
                every_order_is_read_backwards_from_any_message
                inbox_shows_what_one_resolver_may_answer;
            inbox:
                urgent_items_come_first_then_the_oldest
                order_is_by_arrival_not_by_id
                pages_have_no_gap_and_no_duplicate
                a_cursor_outlives_the_message_it_names
                inbox_shows_only_open_messages
                list_is_filtered_by_agent_project_tag_and_kind
                filtered_pages_have_no_gap_and_no_duplicate
                backwards_the_nearest_comes_first
                backwards_pages_have_no_gap_and_no_duplicate
                backwards_cursor_of_a_decided_message_still_works
                backwards_the_same_messages_are_left_out;
            snooze:
                snoozed_message_returns_at_its_time
                snooze_applies_to_one_person
                snooze_can_be_undone
                soonest_to_return_comes_first
                decided_message_is_no_longer_snoozed
                only_open_messages_can_be_snoozed
                open_message_cannot_be_archived;
            notices:
                notifies_come_newest_first_and_alone
                pages_have_no_gap_and_no_duplicate
                archived_notify_stays_visible_to_others
                cursor_outlives_the_notify_it_names;
            decided:
                the_latest_decision_comes_first
                list_is_filtered_by_status
                list_is_filtered_by_agent_project_tag_and_kind
                pages_have_no_gap_and_no_duplicate
                purged_messages_are_not_listed
                list_shows_the_delivery_state;
            counts:
                empty_store_counts_zero
                open_messages_are_counted_for_the_people_who_may_resolve_them
                open_count_excludes_snoozed_messages
                open_messages_of_removed_agents_are_counted
                notices_are_counted_until_they_are_archived
                notice_count_is_capped_at_a_hundred
                failed_deliveries_are_counted;
            search:
                all_words_have_to_occur
                the_start_of_a_word_is_enough
                case_and_accents_do_not_matter
                a_message_is_found_by_its_agent_project_and_tags
                sensitive_words_are_not_found
                search_text_is_never_query_syntax
                a_long_word_is_found_by_its_start
                pages_have_no_gap_and_no_duplicate
                open_and_decided_are_found_alike
                new_messages_are_found_after_the_next_index_batch
                index_batch_respects_its_limit
                index_batch_is_limited_by_text_size
                concurrent_batches_index_each_message_once
                purged_messages_are_not_found;
            search_filters:
                filters_find_by_columns_text_and_resolution
                an_agent_is_found_by_its_id_and_by_its_name
                decided_messages_are_found_latest_decision_first
                totals_stop_at_a_thousand
                pulse_knows_what_waits_and_how_decisions_ended
                only_a_denied_confirm_and_a_task_not_done_are_a_no
                pulse_finds_the_oldest_that_waits_of_any_priority;
            last_seen:
                an_agent_was_seen_when_it_last_called
                last_seen_never_moves_backwards
                the_first_fetch_of_an_answer_counts
                only_an_answer_can_be_fetched
                lists_of_resolved_messages_show_the_fetch;
            history:
                the_newest_comes_first
                pages_have_no_gap_and_no_duplicate
                history_is_filtered_by_agent_and_status
                list_shows_the_delivery_state;
            sweep:
                a_message_expires_only_after_its_expiry
                longest_overdue_expires_first_one_per_resolution_id
                expired_message_has_its_default_or_no_value
                expired_message_releases_its_slot_and_enqueues_a_delivery
                answered_message_does_not_expire
                concurrent_sweeps_expire_each_message_once
                the_next_expiry_is_that_of_an_open_message
                recently_resolved_messages_are_found_for_every_outcome
                readiness_write_succeeds;
            holds:
                decision_on_hold_is_open_for_its_agent_until_the_end
                decision_on_hold_has_won
                taken_back_decision_leaves_no_trace
                only_the_author_takes_back_and_only_during_the_hold
                answer_on_hold_wins_over_the_expiry
                late_take_back_releases_the_decision
                undo_and_release_have_one_winner
                a_person_sets_their_own_undo_time
                files_of_a_decision_go_with_it
                cue_on_hold_is_not_superseded;
            purge:
                purged_message_is_gone
                purge_frees_the_idempotency_key
                purge_keeps_the_audit_trail
                purge_deletes_the_delivery
                only_messages_that_ended_before_the_time_are_purged
                purge_takes_the_oldest_first_and_stops_at_its_limit
                a_notify_ages_from_its_arrival;
            clock_steps:
                first_check_compares_the_clock_with_the_audit_trail
                retention_waits_a_day_after_a_leap
                distant_retries_and_claims_are_due_after_a_step_back
                dead_node_is_removed_one_lease_after_a_step_back
                caller_is_admitted_after_a_step_back;
            deliveries:
                delivery_is_enqueued_with_the_resolution
                every_outcome_is_delivered
                without_a_callback_there_is_no_delivery
                a_claim_is_a_lease
                a_claim_is_for_one_host_and_takes_the_longest_due
                host_is_due_when_one_of_its_deliveries_is
                two_claimants_never_share_a_delivery
                after_a_crash_claims_are_due_at_once
                delivered_state_is_final
                failed_attempt_can_be_final
                failed_attempt_can_be_retried
                person_can_restart_a_failed_delivery
                manual_retry_makes_a_pending_delivery_due_at_once
                manual_retry_needs_an_unfinished_delivery
                a_list_keeps_to_its_limit
                success_counts_even_after_the_claim_was_lost
                a_failure_after_the_claim_is_lost_does_not_count;
            push_context:
                push_context_holds_everything_an_attempt_needs
                no_push_context_without_something_to_deliver
                a_host_is_approved_by_its_name_for_every_port
                a_host_is_approved_by_name_and_port_for_that_port
                an_approval_belongs_to_one_agent
                the_named_secret_is_that_of_the_agent
                keys_come_newest_first_until_the_old_ones_retire
                a_call_with_the_new_token_retires_the_older_keys
                a_key_that_has_retired_needs_no_confirmation;
            credentials:
                a_token_stands_for_its_agent
                a_token_stands_for_its_person
                unknown_token_has_no_principal
                a_token_ends_after_its_last_millisecond
                a_label_holds_one_credential;
            sessions:
                a_session_stands_for_its_person
                a_session_needs_a_person
                list_shows_valid_credentials_newest_first
                expired_sessions_do_not_pile_up
                one_credential_is_ended_by_its_id
                all_other_sessions_are_ended_at_once
                sessions_end_when_the_place_of_the_hub_changes
                token_and_session_authenticate_with_their_own_kind;
            links:
                a_link_works_once
                a_link_works_until_it_expires
                checking_a_link_does_not_redeem_it
                a_link_is_no_token
                a_new_invitation_ends_the_one_before
                a_link_needs_a_person;
            passwords:
                a_password_is_set_replaced_and_removed
                a_password_needs_a_person;
            passkeys:
                passkey_is_read_back_as_it_was_added
                an_id_belongs_to_one_person
                passkeys_are_limited_per_person
                use_stores_the_counter_and_the_time
                a_person_removes_only_their_own;
            ceremonies:
                checking_a_ceremony_does_not_take_it
                ceremonies_are_limited_per_person_and_the_oldest_is_dropped
                a_ceremony_is_taken_once
                ceremony_expires;
            agents:
                an_id_is_taken_once
                list_counts_valid_tokens_and_keys
                list_is_sorted_by_bytes
                a_rotation_keeps_the_old_token_for_the_overlap
                a_second_rotation_never_lengthens_the_first
                rotating_an_unknown_agent_does_nothing
                a_removed_agent_can_do_nothing
                id_of_a_removed_agent_is_given_again_only_on_purpose
                a_removed_agent_leaves_its_messages
                returning_agent_finds_its_open_messages_counted;
            people:
                a_name_is_taken_once
                a_person_may_hold_several_tokens
                the_list_names_actor_and_role
                name_of_a_removed_person_is_given_again_only_on_purpose
                a_role_is_changed_for_every_token_at_once
                last_owner_cannot_be_demoted_or_removed
                removed_person_leaves_nothing_to_a_namesake;
            callbacks:
                a_registered_host_waits_for_approval
                an_approved_host_stays_approved
                a_removed_host_is_not_approved
                hosts_waiting_for_approval_are_limited
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
                setting_change_is_audited_on_the_hub;
        }
    };
}
pub(crate) use behaviours;
